/**
 * Clients that create, update, patch and delete objects over HTTP, with and without preconditions, and record the
 * responses.
 */
import type { Action, ObjectKey, Write } from '../checker/history.ts'
import {
  allowsUnconditionalUpdate,
  bodyOf,
  collectionPath,
  contentOf,
  type Kind,
  kinds,
  namespaces,
  objectPath,
  patchOf,
  type Seen,
  shards,
} from '../objects.ts'
import { type Connection, LateAnswerError, NoAnswerError } from './connection.ts'
import type { Target } from './target.ts'

export const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!
export const chance = (share: number): boolean => Math.random() < share

/** An object that only one writer writes, so that its state is known. */
interface Owned {
  readonly key: ObjectKey
  /** The revision of its current state; 0 if it does not exist. */
  revision: number
}

/** Number of objects that all writers write. Without Leases, which unconditional PUTs would create. */
const shared = 24
const sharedKinds = kinds.filter(allowsUnconditionalUpdate)

export interface WriterOptions {
  /** Share of writes that create new objects. */
  readonly creates: number
  readonly kinds: readonly Kind[]
}

/** Objects that existed before the writers; a writer takes one for itself. */
export class Pool {
  readonly #objects: Owned[]

  constructor(objects: Iterable<Write>) {
    this.#objects = [...objects].map(({ key, revision }) => ({ key, revision }))
  }

  take(): Owned | undefined {
    const { length } = this.#objects
    if (length === 0) return undefined
    const i = Math.floor(Math.random() * length)
    const taken = this.#objects[i]!
    this.#objects[i] = this.#objects[length - 1]!
    this.#objects.length--
    return taken
  }

  give(object: Owned): void {
    this.#objects.push(object)
  }
}

let made = 0

/** Writes until `signal` aborts. */
export async function runWriter(
  target: Target,
  connectionName: string,
  pool: Pool,
  { creates, kinds }: WriterOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const connection = await target.connection(connectionName, signal)
    if (!connection) return
    const writer = new Writer(target, connection)
    if (chance(creates)) {
      const key = target.history.key(pick(kinds), pick(namespaces), `w-${String(made++).padStart(6, '0')}`)
      await writer.own(pool, { key, revision: 0 })
    } else if (chance(0.1)) await writer.contend()
    else {
      const object = pool.take()
      if (object) await writer.own(pool, object)
    }
  }
}

class Writer {
  readonly #target: Target
  readonly #connection: Connection

  constructor(target: Target, connection: Connection) {
    this.#target = target
    this.#connection = connection
  }

  /** Writes an object owned by this writer, and returns it to the pool unless its state is unknown. */
  async own(pool: Pool, object: Owned): Promise<void> {
    const { key } = object
    const action: Action = object.revision === 0 ? 'create' : pick(['update', 'update', 'patch', 'patch', 'delete'])
    const conditional = chance(0.5) || (action === 'update' && !allowsUnconditionalUpdate(key.kind))
    const write = await this.#write(key, action, object.revision, conditional)
    // Without a response the state is unknown.
    if (write.outcome !== 'acknowledged') return
    object.revision = action === 'delete' ? 0 : write.revision
    if (chance(0.05)) await this.read(key)
    pool.give(object)
  }

  /** Writes an object that all writers write. */
  async contend(): Promise<void> {
    const { history } = this.#target
    const i = Math.floor(Math.random() * shared)
    const key = history.key(sharedKinds[i % sharedKinds.length]!, namespaces[1], `shared-${i}`)
    const revision = await this.read(key)
    if (revision === undefined) return
    if (revision === 0) await this.#write(key, 'create', 0, false)
    // Deletes have a precondition, since it would be unknown which state they removed otherwise.
    else if (chance(0.2)) await this.#write(key, 'delete', revision, true)
    else await this.#write(key, pick(['update', 'patch']), revision, chance(0.5))
  }

  async #write(key: ObjectKey, action: Action, revision: number, conditional: boolean): Promise<Write> {
    const { history, tallies } = this.#target
    const { kind, namespace, name } = key
    const write = history.begin(key, action, pick(shards), performance.now(), revision)
    tallies.writes++
    const condition = conditional ? revision : undefined
    const path = objectPath(kind, namespace, name)
    try {
      const { status, text, at } = await {
        create: () => this.#connection.request('POST', collectionPath(kind, namespace), bodyOf(kind, name, write)),
        update: () => this.#connection.request('PUT', path, bodyOf(kind, name, write, condition)),
        patch: () => this.#connection.request('PATCH', path, patchOf(kind, write, condition)),
        delete: () =>
          this.#connection.request(
            'DELETE',
            path,
            condition ? { preconditions: { resourceVersion: String(condition) } } : undefined,
          ),
      }[action]()
      write.answered = at
      this.#judge(write, status, text)
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
      this.#noAnswer(error)
    }
    return write
  }

  /** Ignores a missing response of a killed server, and reports one of a running server. */
  #noAnswer(error: NoAnswerError): void {
    if (error instanceof LateAnswerError) this.#target.fault('requests are answered', error.message)
  }

  #judge(write: Write, status: number, text: string): void {
    const { key, action } = write
    if (status === 200 || status === 201) {
      write.outcome = 'acknowledged'
      this.#target.tallies.acknowledged++
      if (action !== 'delete') this.#acknowledged(write, text)
      return
    }
    // Server errors leave the outcome unknown.
    if (status >= 500) {
      this.#target.unexpected(`${action} of ${key.kind} ${key.name}`, status, text)
      return
    }
    write.outcome = 'refused'
    if (status === 404 || status === 409) this.#refused(write, status, text)
    else if (status !== 429) this.#target.unexpected(`${action} of ${key.kind} ${key.name}`, status, text)
  }

  #acknowledged(write: Write, text: string): void {
    try {
      const object = JSON.parse(text) as Seen
      write.revision = Number(object.metadata.resourceVersion)
      const { count } = contentOf(write.key.kind, object)
      if (count !== write.count)
        this.#target.fault(
          'a response shows what was written',
          `count ${write.count} was written, ${count} is in the answer: ${text.slice(0, 500)}`,
        )
    } catch (error) {
      this.#target.fault('a response shows what was written', (error as Error).message)
    }
  }

  /** Records what a rejection reveals: the object is missing, or it exists already. */
  #refused({ key, action, sent, answered }: Write, status: number, text: string): void {
    const exists = text.includes('AlreadyExists')
    if (status === 409 && !exists) return
    const found = exists ? 'present' : 'absent'
    this.#target.observations.push({
      what: 'read',
      key,
      mode: 'newest',
      found,
      sent,
      answered,
      connection: this.#connection.name,
      label: `a refused ${action}`,
    })
  }

  /** Returns the current revision; 0 if the object does not exist, undefined without a response. */
  async read(key: ObjectKey, any = chance(0.2)): Promise<number | undefined> {
    const { history, observations } = this.#target
    const { kind, namespace, name } = key
    const sent = performance.now()
    try {
      const { status, text, at } = await this.#connection.request(
        'GET',
        `${objectPath(kind, namespace, name)}${any ? '?resourceVersion=0' : ''}`,
      )
      const seen = {
        what: 'read',
        key,
        mode: any ? 'any' : 'newest',
        sent,
        answered: at,
        connection: this.#connection.name,
        label: 'a get',
      } as const
      if (status === 404) {
        observations.push({ ...seen, found: 'absent' })
        return 0
      }
      if (status !== 200) {
        if (status !== 429) this.#target.unexpected(`get of ${kind} ${name}`, status, text)
        return undefined
      }
      const object = JSON.parse(text) as Seen
      const revision = Number(object.metadata.resourceVersion)
      observations.push({ ...seen, found: history.item(key, revision, contentOf(kind, object)) })
      return revision
    } catch (error) {
      if (error instanceof NoAnswerError) this.#noAnswer(error)
      else this.#target.fault('a read shows what was written', (error as Error).message)
      return undefined
    }
  }
}
