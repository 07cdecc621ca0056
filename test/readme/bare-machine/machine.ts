/**
 * A machine with nothing but Node, npm and a shell with its basic programs: a root folder to enter by chroot. Needs
 * root and a mount namespace of its own.
 */
import { execFileSync } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Lifetime } from '../../support/reachable-cluster.ts'

const basicPrograms =
  'basename cat chmod clear cp cut date dirname echo env false find grep head hostname id kill ln ls mkdir mktemp mv ' +
  'ps pwd readlink rm sed sh sleep sort stty tail tee test touch tr true tty uname wc which xargs'
const devices = { null: 3, zero: 5, full: 7, random: 8, urandom: 9 }
const user = 1000
/** The home of the user on the machine. Node is in it, as Node's version managers install it. */
const home = '/home/me'

export interface BareMachine {
  /** The root folder. */
  readonly root: string
  /** The home of its user, as a path outside. */
  readonly home: string
  /** The command that starts an interactive shell of its user, with the prompt `$ `. */
  readonly shell: readonly string[]
  /** Returns how often the shells have shown their prompt. */
  prompts(): number
}

export interface BareMachineOptions {
  /** The URL of the registry of npm. */
  readonly registry: string
  /** More programs, as paths of this machine; they need no libraries. Default: none. */
  readonly programs?: readonly string[]
}

const pathOf = (program: string): string => realpathSync(execFileSync('which', [program], { encoding: 'utf8' }).trim())

/** Creates the machine; it is deleted after `owner`. */
export function bareMachine(owner: Lifetime, { registry, programs = [] }: BareMachineOptions): BareMachine {
  const root = mkdtempSync(join(tmpdir(), 't8s-bare-'))
  mount('-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', root)
  owner.after(() => {
    execFileSync('umount', ['--recursive', '--lazy', root])
    rmdirSync(root)
  })
  const inside = (path: string): string => join(root, path)
  for (const folder of ['bin', 'usr/bin', 'dev', 'proc', 'sys', 'tmp', 'etc'])
    mkdirSync(inside(folder), { recursive: true })
  execFileSync('chmod', ['1777', inside('tmp')])
  mount('-t', 'proc', 'proc', inside('proc'))
  mount('-t', 'sysfs', '-o', 'ro', 'sysfs', inside('sys'))
  for (const [name, minor] of Object.entries(devices))
    execFileSync('mknod', ['-m', '666', inside(`dev/${name}`), 'c', '1', `${minor}`])
  execFileSync('mknod', ['-m', '666', inside('dev/tty'), 'c', '5', '0'])
  writeFileSync(inside('etc/passwd'), `root:x:0:0::/:/bin/sh\nme:x:${user}:${user}::${home}:/bin/sh\n`)
  writeFileSync(inside('etc/hosts'), '127.0.0.1 localhost\n')
  cover(pathOf('busybox'), inside('bin/busybox'))
  for (const name of basicPrograms.split(' ')) symlinkSync('busybox', inside(`bin/${name}`))
  symlinkSync('/bin/env', inside('usr/bin/env'))
  for (const program of programs) cover(realpathSync(program), inside(`bin/${basename(program)}`))
  installNode(inside(`${home}/node`), inside('/'))
  writeFileSync(inside(`${home}/.npmrc`), `registry=${registry}\n`)
  for (const path of ['', '.npmrc', 'node', 'node/bin', 'node/lib', 'node/lib/node_modules'])
    chownSync(join(inside(home), path), user, user)
  // Output of a command in the background may cover a prompt, so each one is counted.
  const counter = '/tmp/.prompts'
  writeFileSync(inside(counter), '')
  chownSync(inside(counter), user, user)
  const environment = {
    PS1: `$(echo >>${counter})$ `,
    HOME: home,
    USER: 'me',
    PATH: `${home}/node/bin:/bin`,
    TERM: 'xterm-256color',
  }
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const enter = ['chroot', `--userspec=${user}:${user}`, root, 'env', '-i', ...variables]
  return {
    root,
    home: inside(home),
    shell: [...enter, 'sh', '-c', 'cd && exec sh -i'],
    prompts: () => readFileSync(inside(counter)).length,
  }
}

const mount = (...args: readonly string[]): void => void execFileSync('mount', args)

/** Shows a file or a folder in another place, read-only. */
function cover(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  // The target of a bind mount exists.
  execFileSync('sh', ['-c', 'if [ -d "$1" ]; then mkdir -p "$2"; else : >"$2"; fi', 'sh', source, target])
  mount('--bind', '-o', 'ro', source, target)
}

function installNode(folder: string, root: string): void {
  for (const name of ['bin', 'lib/node_modules']) mkdirSync(join(folder, name), { recursive: true })
  cover(process.execPath, join(folder, 'bin/node'))
  cover(dirname(dirname(pathOf('npm'))), join(folder, 'lib/node_modules/npm'))
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(folder, 'bin', name))
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).matchAll(/(\/\S+) \(/g)
  for (const [, library = ''] of libraries) {
    mkdirSync(join(root, dirname(library)), { recursive: true })
    copyFileSync(library, join(root, library))
  }
}
