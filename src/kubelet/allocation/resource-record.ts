/**
 * A record of the resources of pods that survives restarts of the kubelet: a file in upstream's format, so that either
 * kubelet continues the work of the other.
 */
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { fnv1a32 } from '../../lib/encoding/fnv.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { PodResources, Requirements } from './pod-resources.ts'

interface WrittenPod {
  readonly ContainerResources: Readonly<Record<string, Requirements>> | null
  readonly PodLevelResources: Requirements | null
}

interface WrittenRecord {
  readonly data: string
  readonly checksum: number
}

/** As Go prints the text with its type. */
const checksumOf = (data: string): number => fnv1a32(`(string)${data}`)

export class ResourceRecord {
  readonly #file: string
  readonly #log: (line: string) => void
  readonly #pods: Map<string, PodResources>
  #written = ''

  /** Begins without pods if there is no file, or if it is corrupt: that one is renamed, after a line in the log. */
  constructor(file: string, log: (line: string) => void) {
    this.#file = file
    this.#log = log
    this.#pods = this.#read()
  }

  get(uid: string): PodResources | undefined {
    return this.#pods.get(uid)
  }

  /** Writes the file if something has changed. Throws the errors of the file system. */
  set(uid: string, resources: PodResources): void {
    this.#pods.set(uid, resources)
    this.#write()
  }

  setContainer(uid: string, name: string, resources: Requirements): void {
    const known = this.#pods.get(uid) ?? { containers: {} }
    this.set(uid, { ...known, containers: { ...known.containers, [name]: resources } })
  }

  /** The file follows with the next change: a deleted pod in it does no harm. */
  delete(uid: string): void {
    this.#pods.delete(uid)
  }

  /** Forgets the pods that do not exist any more. */
  retain(isKnown: (uid: string) => boolean): void {
    for (const uid of [...this.#pods.keys()]) if (!isKnown(uid)) this.#pods.delete(uid)
  }

  #read(): Map<string, PodResources> {
    if (!existsSync(this.#file)) return new Map()
    try {
      const { data, checksum } = JSON.parse(readFileSync(this.#file, 'utf8')) as WrittenRecord
      if (checksumOf(data) !== checksum) throw new Error('its checksum is wrong')
      const { entries = {} } = JSON.parse(data) as { readonly entries?: Readonly<Record<string, WrittenPod>> }
      this.#written = data
      return new Map(
        Object.entries(entries).map(([uid, { ContainerResources, PodLevelResources }]) => [
          uid,
          { containers: ContainerResources ?? {}, ...(PodLevelResources && { pod: PodLevelResources }) },
        ]),
      )
    } catch (error) {
      const aside = `${this.#file}.corrupt`
      this.#log(
        `cannot read ${this.#file}: ${messageOf(error)}; it is renamed to ${aside}, and resources of pods are taken ` +
          'from their statuses',
      )
      renameSync(this.#file, aside)
      return new Map()
    }
  }

  #write(): void {
    const entries: Record<string, WrittenPod> = {}
    for (const uid of [...this.#pods.keys()].sort()) {
      const { containers, pod } = this.#pods.get(uid)!
      entries[uid] = { ContainerResources: containers, PodLevelResources: pod ?? null }
    }
    const data = JSON.stringify({ entries })
    if (data === this.#written) return
    writeFileAtomically(this.#file, JSON.stringify({ data, checksum: checksumOf(data) }), 0o600)
    this.#written = data
  }
}
