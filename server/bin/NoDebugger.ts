/**
 * At SIGUSR1 Node opens its debugger to every user of the machine, who then has whatever this process has in
 * memory. A handler of one's own takes the signal away from it for good; it has to be there before anything else
 * is loaded, so this module is imported first.
 */
process.on("SIGUSR1", () => undefined);
