/**
 * Records of sandboxes or containers, each in a file of its own, so that they survive the runtime. Those that are
 * written last may not survive a failure of the machine, which ends the containers, too.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../lib/files/atomic-file.ts'

const suffix = '.json'

/** `encode` and `decode` convert records to and from JSON. Records have environment variables: only root reads them. */
export class RecordStore<Record extends { readonly id: string }> {
  readonly #folder: string
  readonly #encode: (record: Record) => unknown
  readonly #decode: (json: unknown) => Record

  constructor(folder: string, encode: (record: Record) => unknown, decode: (json: unknown) => Record) {
    this.#folder = folder
    this.#encode = encode
    this.#decode = decode
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  /** Replaces the record atomically. */
  save(record: Record): void {
    replaceFile(this.#fileOf(record.id), JSON.stringify(this.#encode(record)), 0o600)
  }

  remove(id: string): void {
    rmSync(this.#fileOf(id), { force: true })
  }

  /** All records. A file that cannot be read is reported, and left alone; an empty one is removed. */
  load(report: (file: string, error: unknown) => void): Record[] {
    const records: Record[] = []
    for (const name of readdirSync(this.#folder)) {
      if (!name.endsWith(suffix)) continue
      const file = join(this.#folder, name)
      try {
        const text = readFileSync(file, 'utf8')
        // The machine has failed before the content was on the disk.
        if (text === '') rmSync(file)
        else records.push(this.#decode(JSON.parse(text)))
      } catch (error) {
        report(file, error)
      }
    }
    return records
  }

  #fileOf(id: string): string {
    return join(this.#folder, id + suffix)
  }
}
