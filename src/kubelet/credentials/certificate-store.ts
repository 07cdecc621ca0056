/**
 * The kubelet's certificates on disk, as upstream stores them: `NAME-2026-01-31-23-59-59.pem` with certificate and key,
 * and the link `NAME-current.pem` to the newest.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { certificateOf, type KeyPair } from './key-pair.ts'
import type { KeyPairStore } from './managed-certificate.ts'

const privateMode = 0o600

export class CertificateStore implements KeyPairStore {
  readonly #folder: string
  readonly #name: string

  /** `name` is `kubelet-client` or `kubelet-server`. */
  constructor(folder: string, name: string) {
    this.#folder = folder
    this.#name = name
  }

  get currentPath(): string {
    return join(this.#folder, `${this.#name}-current.pem`)
  }

  load(): KeyPair | undefined {
    let text: string
    try {
      text = readFileSync(this.currentPath, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
    const blocks = text.match(/-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g) ?? []
    const isKey = (block: string): boolean => block.startsWith('-----BEGIN') && /^-----BEGIN [A-Z ]*KEY/.test(block)
    const pair = {
      cert: blocks.filter((block) => !isKey(block)).join('\n'),
      key: blocks.find(isKey) ?? '',
    }
    try {
      certificateOf(pair)
    } catch {
      throw new Error(`${this.currentPath} has no certificate with its key`)
    }
    return pair
  }

  /** Makes a pair the current one. The files are readable by the kubelet's user only. */
  save({ cert, key }: KeyPair, now: Date): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o755 })
    const file = join(this.#folder, `${this.#name}-${timeName(now)}.pem`)
    writeFileAtomically(file, `${cert.trimEnd()}\n${key.trimEnd()}\n`, privateMode)
    const link = `${this.currentPath}.tmp`
    rmSync(link, { force: true })
    symlinkSync(file, link)
    renameSync(link, this.currentPath)
  }
}

const timeName = (time: Date): string => time.toISOString().slice(0, 19).replace(/[T:]/g, '-')
