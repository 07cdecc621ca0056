/**
 * A store in memory that is saved to a file on close and loaded from it on open. It does not save history, and a killed
 * process saves nothing: for clusters whose data may be lost.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { errorCode } from '../../lib/explained-error.ts'
import { type Entry, type Store, StoreOpenError } from '../store.ts'
import { MemoryStore } from './store.ts'

/** The file is this line, a line of JSON that describes the entries, then all values, concatenated. */
const firstLine = 't8s memory store 1\n'

interface Contents {
  readonly revision: number
  /** Key, revision and length of the value in bytes. */
  readonly entries: readonly (readonly [string, number, number])[]
}

/**
 * Opens the store saved in `file`, or an empty one if the file does not exist. Throws StoreOpenError if it has another
 * format.
 */
export function persistentMemoryStore(file: string): Store {
  return new PersistentMemoryStore(file)
}

class PersistentMemoryStore extends MemoryStore {
  readonly #file: string
  #closing: Promise<void> | undefined

  constructor(file: string) {
    super(existsSync(file) ? read(file) : undefined)
    this.#file = file
  }

  override close(): Promise<void> {
    this.#closing ??= this.#save().finally(() => super.close())
    return this.#closing
  }

  async #save(): Promise<void> {
    const { entries, revision } = await this.list({ start: '\0', end: '\u{10ffff}' })
    try {
      write(this.#file, entries, revision)
    } catch (error) {
      // If the folder has been removed, its content is not needed any more.
      if (errorCode(error) !== 'ENOENT') throw error
    }
  }
}

function read(file: string): { entries: Entry[]; revision: number } {
  const bytes = readFileSync(file)
  const end = bytes.indexOf('\n', firstLine.length)
  if (end < 0 || bytes.toString('latin1', 0, firstLine.length) !== firstLine) {
    throw new StoreOpenError(
      `${file} was not written by this version of Typernetes: choose another data directory, or remove the file`,
    )
  }
  const { revision, entries } = JSON.parse(bytes.toString('utf8', firstLine.length, end)) as Contents
  let at = end + 1
  return {
    revision,
    entries: entries.map(([key, revision, length]) => ({ key, revision, value: bytes.subarray(at, (at += length)) })),
  }
}

function write(file: string, entries: readonly Entry[], revision: number): void {
  const contents: Contents = {
    revision,
    entries: entries.map(({ key, revision, value }) => [key, revision, value.length]),
  }
  const unfinished = `${file}.new`
  try {
    writeFileSync(
      unfinished,
      Buffer.concat([Buffer.from(`${firstLine}${JSON.stringify(contents)}\n`), ...entries.map(({ value }) => value)]),
      { mode: 0o600 },
    )
    renameSync(unfinished, file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}
