/** sshd for a test, on a free port of the loopback interface, with its own keys and configuration. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

export interface SshServer {
  readonly port: number
  readonly folder: string
  /** Its log. */
  log(): string
  /** Writes a world-readable file beside its own; returns the path. */
  file(name: string, text: string): string
  /** The flag that imports a file: `--from=ssh://…`. */
  url(user: string, file: string): string
  /** The host's public key of a type. */
  hostKey(type: 'ed25519' | 'rsa' | 'ecdsa'): string
  /** Its line in known_hosts. */
  knownHost(name?: string): string
  /** Authorizes a public key. */
  authorize(publicKey: string): void
  /** Replaces the host keys, as in an attack. */
  changeHostKeys(): Promise<void>
  stop(): Promise<void>
}

export interface SshServerOptions {
  /** Lines of sshd_config. */
  readonly lines?: readonly string[]
}

const program = '/usr/sbin/sshd'
const keyTypes = ['ed25519', 'rsa', 'ecdsa'] as const

/** The reason to skip such tests, or false. */
export const withoutSshd: string | false =
  process.getuid?.() === 0 ? false : 'sshd accepts other users only if root runs the test'

/** Starts sshd; it ends with the test at the latest. */
export async function sshServer(t: Lifetime, { lines = [] }: SshServerOptions = {}): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-sshd-'))
  // Users who log in read files here; only root can read the keys.
  chmodSync(folder, 0o755)
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  let child: ChildProcess | undefined
  let log = ''
  let port = 0
  const keyFile = (type: string): string => join(folder, `host_${type}`)
  const makeKeys = (): void => {
    for (const type of keyTypes) {
      for (const suffix of ['', '.pub']) rmSync(keyFile(type) + suffix, { force: true })
      newKey(keyFile(type), type)
    }
  }
  const stop = async (): Promise<void> => {
    if (!child || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  const start = async (): Promise<void> => {
    await waitFor('sshd', async () => {
      port ||= await freePort()
      const config = [
        // The first of two lines wins.
        ...lines,
        `Port ${port}`,
        'ListenAddress 127.0.0.1',
        ...keyTypes.map((type) => `HostKey ${keyFile(type)}`),
        `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
        'StrictModes no',
        'UsePAM no',
        'PidFile none',
        'PermitRootLogin yes',
        'LoginGraceTime 60',
        ...(lines.some((line) => line.startsWith('Subsystem')) ? [] : ['Subsystem sftp internal-sftp']),
      ]
      writeFileSync(join(folder, 'sshd_config'), `${config.join('\n')}\n`)
      child = spawn(program, ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        log += text
      })
      const ended = once(child, 'exit').then(() => false)
      const listens = waitFor('sshd listens', () => answers(port), { deadlineMs: 10_000 }).then(
        () => true,
        () => false,
      )
      const up = await Promise.race([ended, listens])
      // Another process may have taken the port.
      if (!up) {
        port = 0
        await stop()
        throw new Error(log)
      }
      return true
    })
  }
  t.after(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  makeKeys()
  writeFileSync(join(folder, 'authorized_keys'), '')
  await start()
  const hostKey: SshServer['hostKey'] = (type) =>
    readFileSync(`${keyFile(type)}.pub`, 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ')
  return {
    get port() {
      return port
    },
    folder,
    log: () => log,
    file(name, text) {
      mkdirSync(dirname(join(folder, name)), { recursive: true, mode: 0o755 })
      writeFileSync(join(folder, name), text, { mode: 0o644 })
      return join(folder, name)
    },
    url: (user, file) => `--from=ssh://${user}@127.0.0.1:${port}${encodeURI(file)}`,
    hostKey: (type) =>
      readFileSync(`${keyFile(type)}.pub`, 'utf8')
        .split(' ')
        .slice(0, 2)
        .join(' '),
    knownHost: (name = `[127.0.0.1]:${port}`) => `${name} ${hostKey('ed25519')}
`,
    authorize: (publicKey) => writeFileSync(join(folder, 'authorized_keys'), publicKey, { flag: 'a' }),
    async changeHostKeys() {
      await stop()
      makeKeys()
      await start()
    },
    stop,
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
