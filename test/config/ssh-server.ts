/** Debian's sshd for a test: on a free port of the loopback, with keys and a configuration of its own. */
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
  /** What it said so far. */
  log(): string
  /** Writes a file beside its own, which anybody on this machine may read; gives its path. */
  file(name: string, text: string): string
  /** What imports a file of it: `--from=ssh://…`. */
  url(user: string, file: string): string
  /** The public key of the host, of that kind. */
  hostKey(type: 'ed25519' | 'rsa' | 'ecdsa'): string
  /** A line of known_hosts for it. */
  knownHost(name?: string): string
  /** Lets in who has this public key. */
  authorize(publicKey: string): void
  /** Gives the host other keys, as somebody in between would have. */
  changeHostKeys(): Promise<void>
  stop(): Promise<void>
}

export interface SshServerOptions {
  /** Lines of sshd_config. */
  readonly lines?: readonly string[]
}

const program = '/usr/sbin/sshd'
const keyTypes = ['ed25519', 'rsa', 'ecdsa'] as const

/** Why such tests are skipped; false where they are not. */
export const withoutSshd: string | false =
  process.getuid?.() === 0 ? false : 'sshd lets others in only where root runs the test'

/** Starts it; it ends with the test at the latest. */
export async function sshServer(t: Lifetime, { lines = [] }: SshServerOptions = {}): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-sshd-'))
  // Those who log in read what lies there; the keys are for root alone.
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
        // Of two lines, the first counts.
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
      // Somebody else may have taken the port.
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

/** Makes a key pair and gives the public one. */
export function newKey(file: string, type: string, phrase = ''): string {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', phrase, '-C', 'test', '-f', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return readFileSync(`${file}.pub`, 'utf8')
}

/** A user of this machine with a password; gone after the test. */
export async function userWithPassword(t: Lifetime, password: string): Promise<string> {
  const name = `t8s${process.pid}`
  // Others may be at the list of users.
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
