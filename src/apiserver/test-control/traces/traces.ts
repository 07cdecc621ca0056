/** Traces: each begins at a moment, and can be read until it is removed. Nothing is recorded while there is none. */
import { notFound, StatusError } from '../../../machinery/status-error.ts'
import type { Store } from '../../../storage/store.ts'
import { Redaction } from './redaction.ts'
import type { RequestRecorder } from './request-recorder.ts'
import { storedObject } from './stored-object.ts'
import type { TraceData, TracedObject, TracedTest, TracedVersion } from './trace-data.ts'
import { tracedRequest } from './traced-request.ts'
import type { RecordedChange, VersionRecorder } from './version-recorder.ts'

/** A trace that is being recorded. */
export interface TraceInfo {
  readonly name: string
}

interface Begin {
  /** In ms since 1970. */
  readonly time: number
  readonly request: number
  readonly change: number
}

export interface TracesOptions {
  readonly stores: readonly Store[]
  readonly requests: RequestRecorder
  readonly versions: VersionRecorder
  /** The time in ms since 1970. */
  readonly now: () => number
}

const maxTraces = 100
/** Of objects that are not changed. */
const maxObjectBytes = 16 * 1024 * 1024
const everything = { start: '/registry/', end: '/registry0' }

export class Traces {
  readonly #options: TracesOptions
  readonly #begins = new Map<string, Begin>()
  #last = 0

  constructor(options: TracesOptions) {
    this.#options = options
  }

  /** Begins a trace. Throws 409 if there are too many. */
  async begin(): Promise<TraceInfo> {
    if (this.#begins.size >= maxTraces)
      throw new StatusError(409, 'Conflict', `There are ${maxTraces} traces already: delete some of them first.`)
    const { requests, versions, now } = this.#options
    const name = `${++this.#last}`
    this.#begins.set(name, { time: now(), request: requests.position, change: versions.position })
    requests.start()
    await versions.start()
    return { name }
  }

  /** Returns what happened since the beginning. Throws 404 for an unknown trace. */
  async read(name: string, test: TracedTest): Promise<TraceData> {
    const begin = this.#find(name)
    const redaction = new Redaction()
    const { requests: recorder, versions: recorded, now } = this.#options
    const end = now()
    const { changes, dropped: versions } = recorded.after(begin.change)
    const { requests: found, dropped: requests } = recorder.after(begin.request)
    const { objects, dropped } = await this.#objects(changes, redaction)
    return {
      ...{ format: 'typernetes trace', formatVersion: 1, begin: begin.time, end },
      requests: found.map((request) => tracedRequest(request, redaction)),
      objects,
      versions: changes.flatMap((change) => versionOf(change, redaction) ?? []),
      losses: {
        ...{ requests, versions, objects: dropped, notes: recorded.notes },
        bodies: found.filter(({ isBodyDropped }) => isBodyDropped).length,
      },
      // Comes last, when all secret values are known.
      test: withoutSecrets(test, redaction),
    }
  }

  /** Removes a trace, or all. Throws 404 for an unknown one. */
  remove(name: string | undefined): void {
    if (name === undefined) this.#begins.clear()
    else {
      this.#find(name)
      this.#begins.delete(name)
    }
    if (this.#begins.size > 0) return
    this.#options.requests.stop()
    this.#options.versions.stop()
  }

  #find(name: string): Begin {
    const found = this.#begins.get(name)
    if (!found) throw notFound({ group: '', name: 'traces' }, name)
    return found
  }

  /** The state before the changes. */
  async #objects(
    changes: readonly RecordedChange[],
    redaction: Redaction,
  ): Promise<{ readonly objects: readonly TracedObject[]; readonly dropped: number }> {
    const objects: TracedObject[] = []
    const changed = new Set<string>()
    for (const { key, previous } of changes) {
      if (changed.has(key)) continue
      changed.add(key)
      const object = previous && storedObject(key, previous.value, previous.revision, redaction)
      if (object) objects.push(object)
    }
    let bytes = 0
    let dropped = 0
    for (const store of this.#options.stores) {
      const { entries } = await store.list(everything)
      for (const { key, value, revision } of entries) {
        if (changed.has(key)) continue
        bytes += value.length
        const object = bytes > maxObjectBytes ? undefined : storedObject(key, value, revision, redaction)
        if (object) objects.push(object)
        else if (bytes > maxObjectBytes) dropped++
      }
    }
    return { objects, dropped }
  }
}

function versionOf(change: RecordedChange, redaction: Redaction): TracedVersion | undefined {
  const { key, value, revision, type, time } = change
  const object = storedObject(key, value, revision, redaction)
  return object && { ...object, type, time }
}

function withoutSecrets({ name, file, outcome, ...texts }: TracedTest, redaction: Redaction): TracedTest {
  const { error, stack, output } = texts
  return {
    name: redaction.freeText(name),
    ...(file !== undefined && { file }),
    ...(outcome !== undefined && { outcome }),
    ...(error !== undefined && { error: redaction.freeText(error) }),
    ...(stack !== undefined && { stack: redaction.freeText(stack) }),
    ...(output !== undefined && { output: redaction.freeText(output) }),
  }
}
