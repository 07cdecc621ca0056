/** Messages of missing objects. */

/** As the API server answers: `configmap "settings" not found`. */
export const notFoundMessage = (resource: string, name: string): string =>
  `${resource} ${JSON.stringify(name)} not found`
