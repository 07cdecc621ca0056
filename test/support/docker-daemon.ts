/** Debian's Docker engine, in the namespaces and a folder of a test. Needs root. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { DockerEngine, engineAddress } from '../../src/lib/docker-engine/index.ts'
import { findCgroups } from '../../src/node/cgroups/tree/find-cgroups.ts'
import { waitFor } from './wait-for.ts'

/** Docker gives all capabilities to privileged containers, also one that the machine of the tests has not. */
const runc = `#!/bin/sh
case "$(sed -n 's/^CapBnd://p' /proc/self/status)" in
  *[13579bdf]??????) exec runc "$@" ;;
esac
before=
for word in "$@"; do
  case "$before" in
    --bundle) file=$word/config.json ;;
    --process) file=$word ;;
    *) file= ;;
  esac
  if [ -n "$file" ]; then sed -i 's/"CAP_SYS_RESOURCE",//g' "$file"; fi
  before=$word
done
exec runc "$@"
`

export class DockerDaemon {
  readonly folder: string
  #child: ChildProcess | undefined

  /** The files are in a folder below that of the test. */
  constructor(folder: string) {
    this.folder = join(folder, 'docker')
    mkdirSync(this.folder, { recursive: true })
    writeFileSync(join(this.folder, 'runc'), runc, { mode: 0o755 })
  }

  /** The address of its socket. */
  get address(): string {
    return `unix://${this.folder}/docker.sock`
  }

  /** The cgroup of containers that have no pod. */
  get #cgroup(): string {
    return `/t8s-docker-${basename(dirname(this.folder))}`
  }

  /** The command line of the engine. */
  get command(): readonly string[] {
    const { folder, address } = this
    const files = { 'data-root': 'data', 'exec-root': 'exec', pidfile: 'docker.pid' }
    const paths = Object.entries(files).map(([flag, name]) => `--${flag}=${join(folder, name)}`)
    // The name of a handler in tests of RuntimeClasses.
    const runtime = [`--add-runtime=crun=${join(folder, 'runc')}`, '--default-runtime=crun']
    return [
      'dockerd',
      `--host=${address}`,
      '--storage-driver=overlay2',
      `--cgroup-parent=${this.#cgroup}`,
      '--shutdown-timeout=1',
      ...paths,
      ...runtime,
    ]
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const [program, ...args] = this.command
    const file = join(this.folder, 'docker.log')
    const log = openSync(file, 'a')
    const child = spawn(program!, args, { stdio: ['ignore', log, log] })
    closeSync(log)
    this.#child = child
    await this.answers(() => child.exitCode !== null)
  }

  /** Resolves when the engine answers. Rejects with its log if it does not start. */
  async answers(hasEnded: () => boolean): Promise<void> {
    const engine = new DockerEngine(engineAddress(this.address))
    await waitFor('the Docker engine answers', async () => {
      if (hasEnded()) throw new Error(readFileSync(join(this.folder, 'docker.log'), 'utf8'))
      return existsSync(join(this.folder, 'docker.sock')) && (await engine.version().catch(() => 0)) > 0
    })
    engine.close()
  }

  /** Loads an archive of `docker save`. */
  async load(archive: Buffer): Promise<void> {
    const engine = new DockerEngine(engineAddress(this.address))
    const headers = { 'content-type': 'application/x-tar' }
    await buffer(await engine.stream({ method: 'POST', path: '/images/load', body: archive, headers }))
    engine.close()
  }

  /** Ends the engine with its containers. */
  async stop(): Promise<void> {
    const child = this.#child
    if (!child) return
    const ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve()
    child.kill('SIGTERM')
    await ended
  }

  /** Ends the engine, and removes its files. */
  async end(): Promise<void> {
    await this.stop()
    await findCgroups().remove(this.#cgroup)
    const mounts = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[1] ?? '')
    for (const target of mounts.filter((path) => path.startsWith(this.folder)).reverse())
      execFileSync('umount', ['-l', target])
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}
