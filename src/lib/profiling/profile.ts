/**
 * Encodes profiles for pprof: gzipped profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto).
 */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { Function as Code, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format'

/** A function in V8; lines start at 0. */
export interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

export interface StackEntry {
  readonly frame: CallFrame
  /** The line, starting at 1. Default: the first line of the function. */
  readonly line?: number
}

export interface StackSample {
  /** The innermost function first. */
  readonly stack: readonly StackEntry[]
  /** One for each of the profile's types. */
  readonly values: readonly number[]
}

export interface Measure {
  /** `cpu` */
  readonly type: string
  /** `nanoseconds` */
  readonly unit: string
}

export interface ProfileContents {
  readonly measures: readonly Measure[]
  readonly samples: Iterable<StackSample>
  /** Sampling interval, in the unit of `periodMeasure`. */
  readonly period: number
  readonly periodMeasure: Measure
  /** Milliseconds since 1970. */
  readonly begunAt: number
  readonly durationMs: number
}

/** Encodes a profile for `go tool pprof`. */
export function encodeProfile({
  measures,
  samples,
  period,
  periodMeasure,
  begunAt,
  durationMs,
}: ProfileContents): Buffer {
  const strings = new StringTable()
  const valueType = ({ type, unit }: Measure): ValueType =>
    new ValueType({ type: strings.dedup(type), unit: strings.dedup(unit) })
  const places = new Places(strings)
  const sample = [...samples].map(
    ({ stack, values }) => new Sample({ locationId: stack.map((entry) => places.location(entry)), value: [...values] }),
  )
  const profile = new Profile({
    sampleType: measures.map(valueType),
    sample,
    location: places.locations,
    function: places.functions,
    timeNanos: BigInt(Math.round(begunAt)) * 1_000_000n,
    durationNanos: BigInt(Math.round(durationMs)) * 1_000_000n,
    periodType: valueType(periodMeasure),
    period,
    stringTable: strings,
  })
  return gzipSync(profile.encode())
}

/** Deduplicates functions and lines of a profile. */
class Places {
  readonly functions: Code[] = []
  readonly locations: Location[] = []
  readonly #strings: StringTable
  readonly #functionIds = new Map<string, number>()
  readonly #locationIds = new Map<string, number>()

  constructor(strings: StringTable) {
    this.#strings = strings
  }

  location({ frame, line = frame.lineNumber + 1 }: StackEntry): number {
    const functionId = this.#function(frame)
    const key = `${functionId}:${line}`
    const known = this.#locationIds.get(key)
    if (known !== undefined) return known
    const id = this.locations.length + 1
    this.locations.push(new Location({ id, line: [new Line({ functionId, line })] }))
    this.#locationIds.set(key, id)
    return id
  }

  #function({ functionName, url, lineNumber }: CallFrame): number {
    const key = `${functionName}\n${url}\n${lineNumber}`
    const known = this.#functionIds.get(key)
    if (known !== undefined) return known
    const id = this.functions.length + 1
    const name = this.#strings.dedup(functionName || '(anonymous)')
    const filename = this.#strings.dedup(url.startsWith('file:') ? fileURLToPath(url) : url)
    this.functions.push(new Code({ id, name, systemName: name, filename, startLine: Math.max(0, lineNumber + 1) }))
    this.#functionIds.set(key, id)
    return id
  }
}
