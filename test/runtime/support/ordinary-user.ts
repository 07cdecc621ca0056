/** A user without root in the namespaces of a test, with ranges of other users. The machine's files do not change. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../up/t8s-process.ts'

export const userId = 12_345

export interface OrdinaryUser {
  /** A script that runs `./t8s` as the user. */
  readonly program: string
  readonly home: string
  /** For sockets: `XDG_RUNTIME_DIR`. */
  readonly runtime: string
  readonly environment: Readonly<Record<string, string>>
}

/** `folder` gets the user's files. */
export function makeOrdinaryUser(folder: string): OrdinaryUser {
  chmodSync(folder, 0o755)
  const [home, runtime] = ['home', 'runtime'].map((name) => join(folder, name)) as [string, string]
  for (const own of [home, runtime]) {
    mkdirSync(own, { mode: 0o700 })
    chownSync(own, userId, userId)
  }
  const replace = (path: string, text: string): void => {
    const file = join(folder, path.replaceAll('/', '-'))
    writeFileSync(file, text, { mode: 0o644 })
    execFileSync('mount', ['--bind', file, path])
  }
  for (const path of ['/etc/subuid', '/etc/subgid']) replace(path, 'tester:200000:65536\n')
  replace('/etc/passwd', `${readFileSync('/etc/passwd', 'utf8')}tester:x:${userId}:${userId}::${home}:/bin/sh\n`)
  // The device of tunnels may belong to root alone here, unlike on most machines.
  const devices = join(folder, 'devices')
  mkdirSync(devices)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', devices])
  execFileSync('mknod', ['-m', '666', join(devices, 'tun'), 'c', '10', '200'])
  execFileSync('mount', ['--bind', join(devices, 'tun'), '/dev/net/tun'])
  execFileSync('umount', ['--lazy', devices])
  const program = join(folder, 't8s')
  const drop = `setpriv --reuid=${userId} --regid=${userId} --clear-groups`
  writeFileSync(program, `#!/bin/sh\nexec ${drop} '${join(repository, 't8s')}' "$@"\n`, { mode: 0o755 })
  return { program, home, runtime, environment: { HOME: home, XDG_RUNTIME_DIR: runtime } }
}
