/** A flag that may be given several times: all of its values, in their order. */
export const repeated = (value: string, previous: readonly string[] = []): string[] => [...previous, value]
