/** Query parameters of requests for the log of a container. */

export interface LogOptions {
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  /** Only lines since this time, in ms since 1970. */
  readonly sinceMs: number | undefined
  readonly tailLines: number | undefined
  readonly limitBytes: number | undefined
  readonly stream: 'All' | 'Stdout' | 'Stderr'
}

/** The options of a query. Invalid values are ignored, as API servers have checked them. `now` in ms since 1970. */
export function logOptions(query: URLSearchParams, now: number): LogOptions {
  const number = (name: string): number | undefined =>
    /^\d+$/.test(query.get(name) ?? '') ? Number(query.get(name)) : undefined
  const flag = (name: string): boolean => /^(1|t|true)$/i.test(query.get(name) ?? '')
  const seconds = number('sinceSeconds')
  const time = Date.parse(query.get('sinceTime') ?? '')
  const stream = query.get('stream')
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    sinceMs: seconds === undefined ? (Number.isNaN(time) ? undefined : time) : now - seconds * 1000,
    tailLines: number('tailLines'),
    limitBytes: number('limitBytes'),
    stream: stream === 'Stdout' || stream === 'Stderr' ? stream : 'All',
  }
}
