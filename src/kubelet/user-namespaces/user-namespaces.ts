/**
 * The users of pods that have users of their own (KEP-127): each pod has a range of the node's IDs. The ranges are
 * recorded in the folders of the pods, in upstream's format, and restored after a restart.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { messageOf } from '../../lib/message-of.ts'
import { checkIdRange, type IdRange } from './id-range.ts'

/** A range of IDs as it is recorded. */
interface RecordedMapping {
  readonly hostId: number
  readonly containerId: number
  readonly length: number
}

interface RecordedUsers {
  readonly uidMappings?: readonly RecordedMapping[] | null
  readonly gidMappings?: readonly RecordedMapping[] | null
}

export interface UserNamespacesOptions {
  /** The folder of the pods' folders, `/var/lib/kubelet/pods`. */
  readonly podsFolder: string
  /** The node's IDs for pods. */
  readonly range: IdRange
  readonly idsPerPod: number
  readonly maxPods: number
}

const fileName = 'userns'

export class UserNamespaces {
  readonly #options: UserNamespacesOptions
  readonly #slots: number
  /** By pod UID: the index of its range. */
  readonly #slotOf = new Map<string, number>()
  readonly #used = new Set<number>()
  #next = 0

  /** Reads the ranges of present pods. Throws an Error if the node's IDs do not suffice, or a record is wrong. */
  constructor(options: UserNamespacesOptions) {
    const { range, idsPerPod, maxPods } = options
    checkIdRange(range, idsPerPod, maxPods)
    this.#options = options
    this.#slots = range.length / idsPerPod
    for (const uid of folders(options.podsFolder)) {
      try {
        this.#restore(uid)
      } catch (error) {
        throw new Error(`record pod mappings for existing pod ${JSON.stringify(uid)}: ${messageOf(error)}`)
      }
    }
  }

  /** Returns the IDs of a pod, and allocates them if it has none. Throws an Error with upstream's message. */
  allocate(uid: string): IdRange {
    const present = this.#restore(uid)
    if (present) return present
    const slot = this.#freeSlot()
    if (slot === undefined)
      throw new Error('create user namespace: could not find an empty slot to allocate a user namespace')
    const ids = this.#rangeOf(slot)
    const mappings = [{ hostId: ids.first, containerId: 0, length: ids.length }]
    mkdirSync(join(this.#options.podsFolder, uid), { recursive: true, mode: 0o750 })
    const text = JSON.stringify({ uidMappings: mappings, gidMappings: mappings })
    writeFileAtomically(this.#fileOf(uid), text, 0o600)
    this.#take(uid, slot)
    return ids
  }

  /** Frees the IDs of a pod whose containers have ended. */
  release(uid: string): void {
    const slot = this.#slotOf.get(uid)
    if (slot === undefined) return
    rmSync(this.#fileOf(uid), { force: true })
    this.#slotOf.delete(uid)
    this.#used.delete(slot)
  }

  #fileOf(uid: string): string {
    return join(this.#options.podsFolder, uid, fileName)
  }

  /** The ranges in turn, so that freed IDs are used again as late as possible: files of their pods may be left. */
  #freeSlot(): number | undefined {
    if (this.#used.size >= this.#slots) return undefined
    while (this.#used.has(this.#next)) this.#next = (this.#next + 1) % this.#slots
    return this.#next
  }

  #take(uid: string, slot: number): void {
    this.#slotOf.set(uid, slot)
    this.#used.add(slot)
    this.#next = (slot + 1) % this.#slots
  }

  #rangeOf(slot: number): IdRange {
    const { range, idsPerPod } = this.#options
    return { first: range.first + slot * idsPerPod, length: idsPerPod }
  }

  /** The recorded IDs of a pod, which are taken from now on; undefined if it has none. */
  #restore(uid: string): IdRange | undefined {
    const text = readIfPresent(this.#fileOf(uid))
    if (!text) return undefined
    const { range, idsPerPod } = this.#options
    const { hostId, length } = mappingOf(text)
    if (length !== idsPerPod) throw new Error(`wrong user namespace length ${length}`)
    if (hostId % idsPerPod !== 0) throw new Error(`wrong user namespace offset specified ${hostId}`)
    const slot = (hostId - range.first) / idsPerPod
    const known = this.#slotOf.get(uid)
    const quoted = JSON.stringify(uid)
    if (known !== undefined && known !== slot)
      throw new Error(`different user namespace range already used by pod ${quoted}`)
    if (slot < 0 || slot >= this.#slots) throw new Error(`id ${hostId} is out of range`)
    if (known === undefined) {
      if (this.#used.has(slot)) throw new Error(`range picked for pod ${quoted} already taken`)
      this.#take(uid, slot)
    }
    return this.#rangeOf(slot)
  }
}

/** Throws an Error for a mapping that no kubelet writes. */
function mappingOf(text: string): RecordedMapping {
  const invalid = 'invalid user namespace configuration:'
  const { uidMappings, gidMappings } = parsed(text)
  const [uids, gids] = [uidMappings ?? [], gidMappings ?? []]
  if (uids.length !== 1) throw new Error(`${invalid} no more than one mapping allowed.`)
  if (gids.length !== 1) throw new Error(`${invalid} GID and UID mappings should be identical.`)
  const [uid, gid] = [uids[0]!, gids[0]!]
  if (uid.hostId !== gid.hostId || uid.containerId !== gid.containerId || uid.length !== gid.length)
    throw new Error(`${invalid} GID and UID mapping should be identical`)
  if (uid.containerId !== 0) throw new Error(`${invalid} UID 0 must be mapped`)
  return uid
}

function parsed(text: string): RecordedUsers {
  try {
    return JSON.parse(text) as RecordedUsers
  } catch (error) {
    throw new Error(`invalid user namespace mappings file: ${messageOf(error)}`)
  }
}

const readIfPresent = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
}

const folders = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
