/**
 * At SIGUSR1 Node opens its debugger to every user of the machine, who can then read all memory of this process. A
 * handler of one's own takes the signal away from Node for good; it has to be installed before anything else is
 * loaded, so this module is imported first.
 */
process.on("SIGUSR1", () => undefined);
