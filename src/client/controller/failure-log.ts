/**
 * What of a controller's failures is worth a line. Most are the everyday life of a cluster: somebody was faster, an
 * object went away while it was looked at, a quota is used up (events tell that). The rest is told once a minute for
 * each key.
 */
import { reasonOf } from '../../lib/explained-error.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { ConnectionLost, RequestCanceled } from '../connection/connection-lost.ts'
import { Recent } from '../events/recent.ts'
import { isMissing, isNotAllowed } from '../rest/refusals.ts'

const pauseMs = 60_000
const mostRemembered = 1000
/** An object that has gone is looked at once more or twice, until the watch has told it. */
const mostMissing = 5

export class FailureLog {
  readonly #log: (line: string) => void
  readonly #now: () => number
  /** When a key was told of last. */
  readonly #told = new Recent<number>(mostRemembered)

  /** `now` gives ms. */
  constructor(log: (line: string) => void, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  /** Work on a key has failed, after it had failed `before` times in a row. `title` is what it is called in the log. */
  failed(key: string, error: unknown, before: number, title = key): void {
    if (isEveryday(error, before)) return
    // If the server is away, it is so for all keys.
    const about = error instanceof ConnectionLost ? '' : key
    const now = this.#now()
    const told = this.#told.get(about)
    if (told !== undefined && now - told < pauseMs) return
    this.#told.set(about, now)
    this.#log(`${title}: ${reasonOf(error)}`)
  }
}

function isEveryday(error: unknown, before: number): boolean {
  if (error instanceof RequestCanceled) return true
  if (!(error instanceof StatusError)) return false
  switch (error.code) {
    // Somebody was faster: what they wrote will be looked at.
    case 409:
      return true
    // By a quota, an admission plug-in or a webhook: what its own rights do not allow is somebody's mistake.
    case 403:
      return !isNotAllowed(error)
    case 404:
      return isMissing(error) && before < mostMissing
    default:
      return false
  }
}
