/**
 * Responses about names of the cluster, encoded once. The addresses of a name take turns, so that clients that use the
 * first one spread.
 */
import type { Query } from '../wire/query.ts'
import { headerBytes, types } from '../wire/record-types.ts'
import { adaptResponse } from '../wire/response.ts'

interface KnownResponse {
  readonly message: Buffer
  /** Bytes of an answer; 0: they do not take turns. */
  readonly answerBytes: number
  readonly answers: number
  /** The answer that comes first. */
  turn: number
}

/** All are forgotten at once when there are more, as at each change of the cluster. */
const maxEntries = 10_000
/** Records whose names are pointers. */
const recordBytes: Readonly<Record<number, number>> = { [types.A]: 16, [types.AAAA]: 28 }

export class ZoneResponses {
  readonly #version: () => number
  readonly #known = new Map<string, KnownResponse>()
  #knownVersion = -1

  constructor(version: () => number) {
    this.#version = version
  }

  set(query: Query, limit: number, message: Buffer): void {
    const answers = message.readUInt16BE(6)
    const answerBytes = answers > 1 ? (recordBytes[query.type] ?? 0) : 0
    if (this.#known.size >= maxEntries) this.#known.clear()
    this.#known.set(keyOf(query, limit), { message: Buffer.from(message), answerBytes, answers, turn: 0 })
  }

  get(query: Query, limit: number): Buffer | undefined {
    if (this.#knownVersion !== this.#version()) {
      this.#knownVersion = this.#version()
      this.#known.clear()
    }
    const known = this.#known.get(keyOf(query, limit))
    return known && adaptResponse(inTurn(known, headerBytes + query.question.length), query)
  }
}

const keyOf = (query: Query, limit: number): string => `${query.key}/${limit}`

function inTurn(known: KnownResponse, start: number): Buffer {
  const { message, answerBytes, answers } = known
  const copy = Buffer.from(message)
  if (answerBytes === 0) return copy
  known.turn = (known.turn + 1) % answers
  const [from, end] = [start + known.turn * answerBytes, start + answers * answerBytes]
  message.copy(copy, start, from, end)
  message.copy(copy, start + end - from, start, from)
  return copy
}
