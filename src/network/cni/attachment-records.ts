/** Files about the pods that are connected: what has to be undone when one goes, after restarts too. */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import type { Attachment, HostPort, PodReference } from './attachment.ts'

/** The folder of the plug-in's records, with one of each network. */
export const recordsDirectory = '/var/lib/typernetes/network'

export interface AttachmentRecord {
  readonly id: string
  readonly interfaceName: string
  readonly addresses: readonly string[]
  readonly hostPorts: readonly HostPort[]
  /** Absent for a pod that the process which connected it watches itself. */
  readonly watched?: WatchedInterface
}

/** An interface whose addresses another process watches. */
export interface WatchedInterface {
  readonly pod: PodReference
  readonly bridge: string
  /** The hardware address of the pod's end. */
  readonly hardware: string
  /** The file of the network namespace. */
  readonly namespace: string
}

type Key = Pick<Attachment, 'id' | 'interfaceName'>

export class AttachmentRecords {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async write(record: AttachmentRecord): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    writeFileAtomically(this.#file(record), JSON.stringify(record), 0o600)
  }

  async read(key: Key): Promise<AttachmentRecord | undefined> {
    return this.#parsed(this.#file(key))
  }

  async remove(key: Key): Promise<void> {
    await rm(this.#file(key), { force: true })
  }

  async list(): Promise<AttachmentRecord[]> {
    const names = await readdir(this.#directory).catch(ifMissing([]))
    const files = names.filter((name) => name.endsWith('.json')).map((name) => join(this.#directory, name))
    const records = await Promise.all(files.map((file) => this.#parsed(file)))
    return records.filter((record) => record !== undefined)
  }

  async #parsed(file: string): Promise<AttachmentRecord | undefined> {
    const text = await readFile(file, 'utf8').catch(ifMissing(undefined))
    return text === undefined ? undefined : (JSON.parse(text) as AttachmentRecord)
  }

  /** Ids and names were checked: they have no `/`. */
  #file({ id, interfaceName }: Key): string {
    return join(this.#directory, `${id}:${interfaceName}.json`)
  }
}

const ifMissing =
  <Value>(value: Value) =>
  (error: NodeJS.ErrnoException): Value => {
    if (error.code === 'ENOENT') return value
    throw error
  }
