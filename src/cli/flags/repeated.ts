/** Parser of a repeatable flag: collects its values in order. */
export const repeated = (value: string, previous: readonly string[] = []): string[] => [...previous, value]
