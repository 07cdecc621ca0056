/** The limits of nesting levels and of the length in code points, as in cel-go. */
export const limits = { depth: 250, size: 100_000 } as const
