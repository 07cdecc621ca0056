/** sshd for a test, on a free port of the loopback interface, with its own keys and configuration. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Lifetime } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export interface SshServerOptions {
  /** Lines of sshd_config. */
  readonly lines?: readonly string[]
}

const program = '/usr/sbin/sshd'
const keyTypes = ['ed25519', 'rsa', 'ecdsa'] as const
type KeyType = (typeof keyTypes)[number]

/** The reason to skip such tests, or false. */
export const withoutSshd: string | false =
  process.getuid?.() === 0 ? false : 'sshd accepts other users only if root runs the test'

/** Starts sshd; it ends with the test at the latest. */
export async function sshServer(t: Lifetime, { lines = [] }: SshServerOptions = {}): Promise<SshServer> {
  const server = new SshServer(lines)
  t.after(() => server.remove())
  await server.start()
  return server
}

export class SshServer {
  readonly folder = mkdtempSync(join(tmpdir(), 't8s-sshd-'))
  readonly #lines: readonly string[]
  #child: ChildProcess | undefined
  #log = ''
  #port = 0

  /** `lines` are those of sshd_config. */
  constructor(lines: readonly string[]) {
    this.#lines = lines
    // Users who log in read files here; only root can read the keys.
    chmodSync(this.folder, 0o755)
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    this.#makeKeys()
    writeFileSync(join(this.folder, 'authorized_keys'), '')
  }

  get port(): number {
    return this.#port
  }

  log(): string {
    return this.#log
  }

  /** Writes a world-readable file beside its own; returns the path. */
  file(name: string, text: string): string {
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
    writeFileSync(path, text, { mode: 0o644 })
    return path
  }

  /** The flag that imports a file: `--from=ssh://…`. */
  url(user: string, file: string): string {
    return `--from=ssh://${user}@127.0.0.1:${this.#port}${encodeURI(file)}`
  }

  /** The host's public key of a type. */
  hostKey(type: KeyType): string {
    return readFileSync(`${this.#keyFile(type)}.pub`, 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ')
  }

  /** Its line in known_hosts. */
  knownHost(name = `[127.0.0.1]:${this.#port}`): string {
    return `${name} ${this.hostKey('ed25519')}\n`
  }

  /** Authorizes a public key. */
  authorize(publicKey: string): void {
    writeFileSync(join(this.folder, 'authorized_keys'), publicKey, { flag: 'a' })
  }

  /** Replaces the host keys, as in an attack. */
  async changeHostKeys(): Promise<void> {
    await this.stop()
    this.#makeKeys()
    await this.start()
  }

  /** Starts sshd on the same port as before, if there was one. */
  async start(): Promise<void> {
    await waitFor('sshd', async () => {
      this.#port ||= await freePort()
      const child = this.#spawn()
      const ended = once(child, 'exit').then(() => false)
      const listens = waitFor('sshd listens', () => answers(this.#port), { deadlineMs: 10_000 }).then(
        () => true,
        () => false,
      )
      if (await Promise.race([ended, listens])) return true
      // Another process may have taken the port.
      this.#port = 0
      await this.stop()
      throw new Error(this.#log)
    })
  }

  async stop(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #spawn(): ChildProcess {
    const configFile = join(this.folder, 'sshd_config')
    writeFileSync(configFile, `${this.#configuration().join('\n')}\n`)
    const child = spawn(program, ['-D', '-e', '-f', configFile], { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#log += text
    })
    this.#child = child
    return child
  }

  #configuration(): string[] {
    return [
      // The first of two lines wins.
      ...this.#lines,
      `Port ${this.#port}`,
      'ListenAddress 127.0.0.1',
      ...keyTypes.map((type) => `HostKey ${this.#keyFile(type)}`),
      `AuthorizedKeysFile ${join(this.folder, 'authorized_keys')}`,
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
      'PermitRootLogin yes',
      'LoginGraceTime 60',
      ...(this.#lines.some((line) => line.startsWith('Subsystem')) ? [] : ['Subsystem sftp internal-sftp']),
    ]
  }

  #makeKeys(): void {
    for (const type of keyTypes) {
      const file = this.#keyFile(type)
      for (const path of [file, `${file}.pub`]) rmSync(path, { force: true })
      newKey(file, type)
    }
  }

  #keyFile(type: KeyType): string {
    return join(this.folder, `host_${type}`)
  }
}

/** Creates a key pair and returns the public key. */
export function newKey(file: string, type: string, phrase = ''): string {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', phrase, '-C', 'test', '-f', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return readFileSync(`${file}.pub`, 'utf8')
}

/** Creates a user with a password; deletes it after the test. */
export async function userWithPassword(t: Lifetime, password: string): Promise<string> {
  const name = `t8s${process.pid}`
  // Other processes may lock the list of users.
  await waitFor(
    'a user',
    () =>
      execFileSync('useradd', ['--no-create-home', '--home-dir', '/', '--shell', '/bin/sh', name], {
        stdio: ['ignore', 'ignore', 'pipe'],
      }) && true,
  )
  t.after(() =>
    waitFor('no user', () => execFileSync('userdel', [name], { stdio: ['ignore', 'ignore', 'pipe'] }) && true),
  )
  await waitFor('a password', () => execFileSync('chpasswd', { input: `${name}:${password}\n` }) && true)
  return name
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket
      .once('data', () => {
        socket.destroy()
        resolve(true)
      })
      .once('error', () => resolve(false))
      .once('close', () => resolve(false))
  })
}
