/** Makes one file for each program, its source seen from the root of the checkout, and returns their folder. */
export declare const bundle: (name: string, entryPoints: ReadonlyArray<string>) => string;
/** Makes the files of the command line and returns the path of its own. */
export declare const bundleCommand: () => string;
