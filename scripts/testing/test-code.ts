/** Distinguishes tests and their fixtures from the product, which never imports them. */

/** Returns true for `*.test.ts` and `*.fixture.ts`. */
export const isTestCode = (path: string): boolean => /\.(?:test|fixture)\.ts$/.test(path)
