/** The disk of the virtual machine, with Node, `t8s`, executors and the checks. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeTestImages } from '../../kubelet/support/runtimes/test-images.ts'

const repository = join(import.meta.dirname, '../../..')
const programs = ['crun', 'runc', 'apparmor_parser']
/** Applets of busybox that the machine and its checks use. */
const applets = ['sh', 'mount', 'umount', 'mkdir', 'ip', 'poweroff', 'sleep', 'cat', 'readlink']
const megabytes = 1_024

export interface DiskContent {
  /** A bundled program. */
  readonly checks: string
  /** The names of those that are checked. */
  readonly executors: readonly string[]
}

/** Writes a file system into `file`. `folder` is empty, and gets its files. */
export function makeDisk(file: string, folder: string, { checks, executors }: DiskContent): void {
  for (const path of ['proc', 'sys', 'dev', 'run', 'tmp', 'etc', 'var/lib', 'usr/bin', 'root'])
    mkdirSync(join(folder, path), { recursive: true })
  symlinkSync('usr/bin', join(folder, 'bin'))
  copyProgram(folder, '/bin/busybox')
  for (const applet of applets) symlinkSync('busybox', join(folder, 'usr/bin', applet))
  copyProgram(folder, process.execPath)
  for (const program of programs) copyProgram(folder, pathOf(program))
  for (const path of ['/etc/apparmor/parser.conf', '/usr/share/apparmor-features'])
    cpSync(path, join(folder, path), { recursive: true })
  copyRepository(join(folder, 'opt/t8s'))
  copyFileSync(checks, join(folder, 'checks.js'))
  writeFileSync(join(folder, 'executors'), executors.join(' '))
  writeTestImages(folder)
  copyFileSync(join(import.meta.dirname, '../init.sh'), join(folder, 'init.sh'))
  chmodSync(join(folder, 'init.sh'), 0o755)
  execFileSync('mke2fs', ['-q', '-F', '-t', 'ext4', '-d', folder, file, `${megabytes}M`])
}

const pathOf = (program: string): string => execFileSync('which', [program], { encoding: 'utf8' }).trim()

/** Copies a program and its libraries. */
function copyProgram(folder: string, program: string): void {
  const name = program.split('/').at(-1)!
  copyFileSync(realpathSync(program), join(folder, 'usr/bin', name))
  for (const library of librariesOf(program)) {
    const target = join(folder, library)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(realpathSync(library), target)
  }
}

function librariesOf(program: string): string[] {
  // A static program has none, which ldd reports as an error.
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
  return stdout.match(/\/\S+(?= \(0x)/g) ?? []
}

/** `t8s` and the packages that it loads while it runs. */
function copyRepository(target: string): void {
  cpSync(join(repository, '.build'), join(target, '.build'), { recursive: true })
  for (const name of ['koffi', '@koromix'])
    cpSync(join(repository, 'node_modules', name), join(target, 'node_modules', name), { recursive: true })
}
