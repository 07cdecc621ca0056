/** The disk of a virtual machine, with Node and the programs of a minimal system. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const repository = join(import.meta.dirname, '../../..')
/** Applets of busybox that the machine and its checks use. */
const applets = ['sh', 'mount', 'umount', 'mkdir', 'ip', 'poweroff', 'sleep', 'cat', 'readlink', 'modprobe', 'true']

/** Writes a file system into `file`: those of `folder`, and the system. Programs that `folder` has remain. */
export function makeDisk(file: string, folder: string, megabytes: number): void {
  for (const path of ['proc', 'sys', 'dev', 'run', 'tmp', 'etc', 'var/lib', 'usr/bin', 'root'])
    mkdirSync(join(folder, path), { recursive: true })
  for (const path of ['bin', 'sbin']) symlinkSync('usr/bin', join(folder, path))
  copyProgram(folder, '/bin/busybox')
  for (const applet of applets) linkApplet(folder, applet)
  copyProgram(folder, process.execPath)
  copyFileSync(join(import.meta.dirname, '../init.sh'), join(folder, 'init.sh'))
  chmodSync(join(folder, 'init.sh'), 0o755)
  execFileSync('mke2fs', ['-q', '-F', '-t', 'ext4', '-d', folder, file, `${megabytes}M`])
}

/** Copies a program and its libraries, by its name in the path or its file. */
export function copyProgram(folder: string, program: string): void {
  const file = program.startsWith('/') ? program : execFileSync('which', [program], { encoding: 'utf8' }).trim()
  const target = join(folder, 'usr/bin', file.split('/').at(-1)!)
  copyTo(realpathSync(file), target)
  copyLibraries(folder, file)
}

/** Copies a file and its libraries to its own place: a plug-in of a program. */
export function copyLibrary(folder: string, file: string): void {
  copyTo(realpathSync(file), join(folder, file))
  copyLibraries(folder, file)
}

function copyLibraries(folder: string, file: string): void {
  // A static program has none, which ldd reports as an error.
  const { stdout } = spawnSync('ldd', [file], { encoding: 'utf8' })
  for (const library of stdout.match(/\/\S+(?= \(0x)/g) ?? []) copyTo(realpathSync(library), join(folder, library))
}

/** Copies the native part of koffi beside bundles in `to`. */
export function copyKoffi(to: string): void {
  const path = 'node_modules/@koromix'
  cpSync(join(repository, path), join(to, path), { recursive: true })
}

function copyTo(from: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(from, target)
}

function linkApplet(folder: string, applet: string): void {
  try {
    symlinkSync('busybox', join(folder, 'usr/bin', applet))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
