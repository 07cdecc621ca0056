/** The certificate that the kubelet signs itself, in the files of upstream: `kubelet.crt` and `kubelet.key`. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { certificateOf, type KeyPair } from './key-pair.ts'
import type { KeyPairStore } from './managed-certificate.ts'

export class SelfSignedFiles implements KeyPairStore {
  readonly currentPath: string
  readonly #folder: string
  readonly #keyPath: string

  constructor(folder: string) {
    this.#folder = folder
    this.currentPath = join(folder, 'kubelet.crt')
    this.#keyPath = join(folder, 'kubelet.key')
  }

  load(): KeyPair | undefined {
    const [cert, key] = [textOf(this.currentPath), textOf(this.#keyPath)]
    if (cert === undefined || key === undefined) return undefined
    try {
      certificateOf({ cert, key })
    } catch {
      throw new Error(`${this.currentPath} is no certificate for ${this.#keyPath}`)
    }
    return { cert, key }
  }

  /** The key is readable by the kubelet's user only. */
  save({ cert, key }: KeyPair): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o755 })
    writeFileAtomically(this.#keyPath, key, 0o600)
    writeFileAtomically(this.currentPath, cert, 0o644)
  }
}

/** Undefined for a file that does not exist. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
