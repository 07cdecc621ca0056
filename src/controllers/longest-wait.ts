/**
 * How long a key waits at most until it is looked at again, in ms: timers reach no further than 24 days, and who is
 * early asks again.
 */
export const longestWaitMs = 24 * 3600 * 1000
