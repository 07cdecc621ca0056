/** Builds the crashing program with the installed Go and runs it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '../..')

/** Reason to skip tests that need Go, or false. */
export const withoutGo: string | false =
  spawnSync('go', ['version']).status === 0 ? false : 'go is not installed (Debian: apt-get install golang-go)'

export interface GoProgram {
  /** Folder of its sources. */
  readonly folder: string
  /** Returns its output when it crashes in this way. */
  crash(name: string, environment?: Readonly<Record<string, string>>): string
  remove(): void
}

/** Builds without network and C compiler. */
export function buildProgram(environment: Readonly<Record<string, string>> = {}, runner?: string): GoProgram {
  const folder = mkdtempSync(join(tmpdir(), 't8s-go-'))
  cpSync(join(import.meta.dirname, 'program'), folder, { recursive: true })
  const cache = join(repository, '.build/go-cache')
  mkdirSync(cache, { recursive: true })
  const env = {
    ...process.env,
    CGO_ENABLED: '0',
    GO111MODULE: 'on',
    GOFLAGS: '',
    GOPROXY: 'off',
    GOTOOLCHAIN: 'local',
    GOCACHE: cache,
    ...environment,
  }
  const program = join(folder, 'crash')
  execFileSync('go', ['build', '-o', program, '.'], { cwd: folder, env, timeout: 280_000 })
  return {
    folder,
    crash(name, more = {}) {
      const { stderr, error } = spawnSync(runner ?? program, runner ? [program, name] : [name], {
        env: { ...process.env, ...more },
        encoding: 'utf8',
        timeout: 60_000,
        maxBuffer: 64 * 1024 * 1024,
      })
      if (error) throw error
      return stderr
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
