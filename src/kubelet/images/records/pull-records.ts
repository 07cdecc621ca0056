/**
 * Records of image pulls on disk (KEP-2535), in upstream's files: intents in `image_manager/pulling`, and pulled images
 * with the credentials that gave access in `image_manager/pulled`. No credential itself is written.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'

export interface RecordedSecret {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  readonly credentialHash: string
}

/** The pods that may use an image without a pull: all, or those with one of these secrets. */
export interface RecordedAccess {
  readonly kubernetesSecrets?: readonly RecordedSecret[]
  readonly nodePodsAccessible?: boolean
}

export interface PulledRecord {
  /** RFC 3339. */
  readonly lastUpdatedTime: string
  /** The image's ID in the runtime. */
  readonly imageRef: string
  /** By registry and repository. */
  readonly credentialMapping: Readonly<Record<string, RecordedAccess>>
}

const apiVersion = 'kubelet.config.k8s.io/v1beta1'
const readableVersions = [apiVersion, 'kubelet.config.k8s.io/v1alpha1']

export class PullRecords {
  readonly #pulling: string
  readonly #pulled: string
  readonly #log: (line: string) => void

  /** `root` is the kubelet's folder. Throws errors of the file system. */
  constructor(root: string, log: (line: string) => void) {
    this.#pulling = join(root, 'image_manager', 'pulling')
    this.#pulled = join(root, 'image_manager', 'pulled')
    this.#log = log
    for (const folder of [this.#pulling, this.#pulled]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  /** Throws errors of the file system. */
  writeIntent(image: string): void {
    write(this.#pulling, image, { kind: 'ImagePullIntent', apiVersion, image })
  }

  /** Throws an Error if the record cannot be read. */
  hasIntent(image: string): boolean {
    return read(this.#pulling, fileOf(image))?.image === image
  }

  deleteIntent(image: string): void {
    rmSync(join(this.#pulling, fileOf(image)), { force: true })
  }

  /** The images whose pull has not ended, as after a restart. */
  intents(): string[] {
    return this.#all(this.#pulling).flatMap(({ image }) => (typeof image === 'string' ? [image] : []))
  }

  /** Throws an Error if the record cannot be read. */
  find(imageRef: string): PulledRecord | undefined {
    const record = read(this.#pulled, fileOf(imageRef))
    return record?.imageRef === imageRef ? pulledOf(record) : undefined
  }

  /** Throws errors of the file system. */
  write(record: PulledRecord): void {
    write(this.#pulled, record.imageRef, { kind: 'ImagePulledRecord', apiVersion, ...record })
  }

  delete(imageRef: string): void {
    rmSync(join(this.#pulled, fileOf(imageRef)), { force: true })
  }

  all(): PulledRecord[] {
    return this.#all(this.#pulled).map(pulledOf)
  }

  /** Records that cannot be read are logged and skipped. */
  #all(folder: string): Fields[] {
    return readdirSync(folder)
      .filter((name) => name.startsWith(prefix) && !name.endsWith('.tmp'))
      .flatMap((name) => {
        try {
          return [read(folder, name) ?? {}]
        } catch (error) {
          this.#log(`cannot read the record ${join(folder, name)}: ${(error as Error).message}`)
          return []
        }
      })
  }
}

type Fields = Readonly<Record<string, unknown>>

const prefix = 'sha256-'

const fileOf = (key: string): string => `${prefix}${createHash('sha256').update(key).digest('hex')}`

function write(folder: string, key: string, record: object): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileAtomically(join(folder, fileOf(key)), `${JSON.stringify(record)}\n`, 0o600)
}

function read(folder: string, name: string): Fields | undefined {
  let text: string
  try {
    text = readFileSync(join(folder, name), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const record: unknown = JSON.parse(text)
  if (typeof record !== 'object' || record === null) throw new Error('it is not an object')
  const fields = record as Fields
  if (!readableVersions.includes(String(fields.apiVersion))) throw new Error(`its version is ${fields.apiVersion}`)
  return fields
}

const pulledOf = ({ lastUpdatedTime, imageRef, credentialMapping }: Fields): PulledRecord => ({
  lastUpdatedTime: String(lastUpdatedTime ?? ''),
  imageRef: String(imageRef ?? ''),
  credentialMapping: (credentialMapping ?? {}) as PulledRecord['credentialMapping'],
})
