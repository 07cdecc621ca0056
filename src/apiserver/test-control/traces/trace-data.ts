/** The content of a trace: what a server did during a test. Its page in the browser reads it. */
import type { RequestFacts } from '../request-facts.ts'

/** A text, without secret values. */
export interface TracedBody {
  /** Empty if it was left out. */
  readonly text: string
  /** Bytes of the whole body, as it was sent. */
  readonly bytes: number
  /** Why the text is not the whole body. */
  readonly omitted?: string
}

/** One request and its answer. The name may be that of the created object in the answer. */
export interface TracedRequest extends RequestFacts {
  readonly number: number
  /** The time of arrival, in ms since 1970. */
  readonly time: number
  /** The groups of an impersonated user. */
  readonly groups?: readonly string[]
  /** The user who impersonates. */
  readonly impersonator?: string
  /** In ms: until the answer began; for streams until their end. Absent while a stream is open. */
  readonly durationMs?: number
  /** The number of events that a watch has sent. */
  readonly events?: number
  /** The number of the fault that hit it. */
  readonly fault?: number
  readonly request?: TracedBody
  readonly response?: TracedBody
  /** The revision that it wrote, if its answer has one. */
  readonly wrote?: number
}

/** A stored object, without secret values. */
export interface TracedObject {
  readonly group: string
  /** The plural. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** Absent for an object that was deleted, and for one that is too large. */
  readonly object?: unknown
  /** Why the object is not there. */
  readonly omitted?: string
}

/** A version of an object that was written during the trace. */
export interface TracedVersion extends TracedObject {
  readonly type: 'put' | 'delete'
  /** In ms since 1970. */
  readonly time: number
}

/** The test of a trace. */
export interface TracedTest {
  readonly name: string
  readonly file?: string
  readonly outcome?: 'passed' | 'failed'
  /** The error's message. */
  readonly error?: string
  readonly stack?: string
  /** Lines that were written to the console. */
  readonly output?: string
}

/** The parts that the limits of the recording have left out. */
export interface TraceLosses {
  readonly requests: number
  /** Bodies of requests and answers. */
  readonly bodies: number
  readonly versions: number
  readonly objects: number
  /** Why changes are missing: a sentence for each reason. */
  readonly notes: readonly string[]
}

/** A trace. */
export interface TraceData {
  readonly format: 'typernetes trace'
  readonly formatVersion: 1
  readonly test: TracedTest
  /** In ms since 1970. */
  readonly begin: number
  readonly end: number
  readonly requests: readonly TracedRequest[]
  /** The state at the beginning; of objects that did not change, the present one. */
  readonly objects: readonly TracedObject[]
  /** Oldest first. */
  readonly versions: readonly TracedVersion[]
  readonly losses: TraceLosses
}
