/** Makes one file for each program and returns the path of the command line's own. */
export declare const makeBundle: () => Promise<string>;
