/** Rules for paths from objects. */

/** Throws an Error for a path with `..`. `describe` completes the message. */
export function checkNoBacksteps(path: string, describe: (message: string) => string): void {
  if (path.split('/').includes('..')) throw new Error(describe("must not contain '..'"))
}
