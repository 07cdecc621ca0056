/** The longest delay of a requeue, in ms. setTimeout overflows after 24 days; a key that wakes early is requeued. */
export const maxDelayMs = 24 * 3600 * 1000
