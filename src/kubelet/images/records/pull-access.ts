/** Decides if a pod may use an image that is present, and records who has pulled it (KEP-2535). */
import type { Image } from '#protobuf/cri-images_pb.js'
import { timestamp } from '../../../machinery/values/timestamp.ts'
import { completeName, parseImageName } from '../../../node/images/image-name.ts'
import type { Credential } from '../credentials/keyring.ts'
import type { PulledRecord, PullRecords, RecordedAccess, RecordedSecret } from './pull-records.ts'
import type { VerificationPolicy } from './verification-policy.ts'

export interface PullAccessOptions {
  readonly records: PullRecords
  readonly policy: VerificationPolicy
  readonly log: (line: string) => void
  readonly now: () => number
}

/** More secrets than these are not recorded when they are only compared. */
const maxComparedSecrets = 100

export class PullAccess {
  readonly #options: PullAccessOptions
  /** By image: how many pulls run. */
  readonly #pulls = new Map<string, number>()

  constructor(options: PullAccessOptions) {
    this.#options = options
  }

  /**
   * Ends the intents of an earlier kubelet: an image that is present by now counts as pulled, by nobody yet. Call it
   * before the first pull.
   */
  resume(images: readonly Image[]): void {
    const { records, log } = this.#options
    const present = new Map(images.flatMap((image) => namesOf(image).map((name) => [name, image.id])))
    for (const image of records.intents())
      try {
        const id = present.get(completeName(image))
        if (id === undefined) continue
        this.#record(image, id, undefined)
        records.deleteIntent(image)
      } catch (error) {
        log(`cannot resume the pull of ${image}: ${(error as Error).message}`)
      }
  }

  /** Throws errors of the file system: without a record the image would count as preloaded. */
  begin(image: string): void {
    if (!this.#pulls.has(image)) this.#options.records.writeIntent(image)
    this.#pulls.set(image, (this.#pulls.get(image) ?? 0) + 1)
  }

  /** Records a pull; without a credential, or with one of the node, all pods may use the image. */
  succeed(image: string, imageRef: string, credential: Credential | undefined): void {
    try {
      this.#record(image, imageRef, accessOf(credential))
    } catch (error) {
      // The intent remains, so that the image still counts as pulled by the kubelet.
      this.#options.log(`cannot record the pull of ${image}: ${(error as Error).message}`)
      return
    }
    this.#end(image)
  }

  fail(image: string): void {
    this.#end(image)
  }

  /** Resolves with true if the pod must pull an image although it is present. */
  async mustPull(image: string, imageRef: string, credentials: () => Promise<readonly Credential[]>): Promise<boolean> {
    const { records, policy, log } = this.#options
    let record: PulledRecord | undefined
    let isPulledByKubelet: boolean
    try {
      record = records.find(imageRef)
      isPulledByKubelet = record !== undefined || this.#pulls.has(image) || records.hasIntent(image)
    } catch (error) {
      log(`cannot read the record of the image ${image}: ${(error as Error).message}`)
      return true
    }
    if (!policy(image, isPulledByKubelet)) return false
    const access = record?.credentialMapping[parseImageName(image).repository]
    if (!access) return true
    if (access.nodePodsAccessible) return false
    const recorded = access.kubernetesSecrets ?? []
    if (recorded.length === 0) return true
    return !this.#hasAccess(image, imageRef, recorded, await credentials())
  }

  /** Deletes records of images that no longer exist and whose record is older than `until` (ms since 1970). */
  prune(imageRefs: ReadonlySet<string>, until: number): void {
    const { records, log } = this.#options
    try {
      for (const { imageRef, lastUpdatedTime } of records.all())
        if (!imageRefs.has(imageRef) && !(Date.parse(lastUpdatedTime) >= until)) records.delete(imageRef)
    } catch (error) {
      log(`cannot delete records of images: ${(error as Error).message}`)
    }
  }

  /** A secret has access if it is one of those recorded, or has the same login as one of them. */
  #hasAccess(
    image: string,
    imageRef: string,
    recorded: readonly RecordedSecret[],
    credentials: readonly Credential[],
  ): boolean {
    for (const credential of credentials) {
      if (!credential.secret) continue
      const known = recorded.find((one) => isSameSecret(one, credential) || one.credentialHash === credential.hash)
      if (!known) continue
      const isExact = isSameSecret(known, credential) && known.credentialHash === credential.hash
      if (!isExact && recorded.length < maxComparedSecrets)
        try {
          this.#record(image, imageRef, accessOf(credential))
        } catch (error) {
          this.#options.log(`cannot record the access to ${image}: ${(error as Error).message}`)
        }
      return true
    }
    return false
  }

  #record(image: string, imageRef: string, access: RecordedAccess | undefined): void {
    const { records, now } = this.#options
    const { repository } = parseImageName(image)
    const before = this.#find(imageRef)
    const known = before?.credentialMapping[repository]
    const merged = access && mergeAccess(known, access)
    if (before && (!merged || merged === known)) return
    records.write({
      lastUpdatedTime: timestamp(now()),
      imageRef,
      credentialMapping: { ...before?.credentialMapping, ...(merged && { [repository]: merged }) },
    })
  }

  /** A record that cannot be read is replaced. */
  #find(imageRef: string): PulledRecord | undefined {
    try {
      return this.#options.records.find(imageRef)
    } catch {
      return undefined
    }
  }

  #end(image: string): void {
    const left = (this.#pulls.get(image) ?? 1) - 1
    if (left > 0) {
      this.#pulls.set(image, left)
      return
    }
    try {
      this.#options.records.deleteIntent(image)
      this.#pulls.delete(image)
    } catch (error) {
      this.#options.log(`cannot delete the intent to pull ${image}: ${(error as Error).message}`)
    }
  }
}

const namesOf = ({ repoTags, repoDigests }: Image): readonly string[] => [...repoTags, ...repoDigests]

const accessOf = (credential: Credential | undefined): RecordedAccess =>
  credential?.secret
    ? { kubernetesSecrets: [{ ...credential.secret, credentialHash: credential.hash }] }
    : { nodePodsAccessible: true }

const isSameSecret = ({ uid, namespace, name }: RecordedSecret, { secret }: Credential): boolean =>
  secret?.uid === uid && secret.namespace === namespace && secret.name === name

/** Returns `known` itself if nothing changes. Secrets are ordered by namespace, name and UID. */
function mergeAccess(known: RecordedAccess | undefined, added: RecordedAccess): RecordedAccess {
  if (!known) return added
  if (known.nodePodsAccessible) return known
  if (added.nodePodsAccessible) return added
  const secrets = new Map((known.kubernetesSecrets ?? []).map((secret) => [keyOf(secret), secret]))
  const changed = (added.kubernetesSecrets ?? []).filter(
    (secret) => secrets.get(keyOf(secret))?.credentialHash !== secret.credentialHash,
  )
  if (changed.length === 0) return known
  for (const secret of changed) secrets.set(keyOf(secret), secret)
  const keys = [...secrets.keys()].sort()
  return { kubernetesSecrets: keys.map((key) => secrets.get(key)!) }
}

const keyOf = ({ namespace, name, uid }: RecordedSecret): string => `${namespace}\0${name}\0${uid}`
