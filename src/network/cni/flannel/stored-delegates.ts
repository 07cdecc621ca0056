/** The configurations with which pods were connected: they are disconnected with them, whatever the subnet is then. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'

export class StoredDelegates {
  readonly #folder: string

  /** The folder is upstream's: a node can change from one to the other. */
  constructor(folder: string) {
    this.#folder = folder
  }

  write(id: string, config: object): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    writeFileAtomically(join(this.#folder, id), JSON.stringify(config), 0o600)
  }

  /** The text that was stored for a pod; undefined if there is none. */
  read(id: string): string | undefined {
    try {
      return readFileSync(join(this.#folder, id), 'utf8')
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
      throw error
    }
  }

  remove(id: string): void {
    rmSync(join(this.#folder, id), { force: true })
  }

  /** The ids of all pods that have a configuration. */
  list(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => !name.endsWith('.tmp'))
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return []
      throw error
    }
  }
}
