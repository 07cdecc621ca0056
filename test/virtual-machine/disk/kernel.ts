/** Debian's cloud kernel, and an initial file system that finds the disk. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const modules = ['virtio_pci', 'virtio_blk', 'overlay']
/** Modules of networks, and of ciphers that WireGuard and IPsec need. */
const networkFolders = [
  ...['net', 'lib', 'crypto', 'arch/x86/crypto'],
  ...['veth.ko', 'dummy.ko', 'wireguard'].map((name) => `drivers/net/${name}`),
].map((path) => `kernel/${path}`)
const applets = ['sh', 'mount', 'umount', 'modprobe', 'sleep', 'switch_root']

export interface Kernel {
  readonly image: string
  readonly initialFiles: string
  /** A folder with a folder of modules for networks, by the version of the kernel. */
  readonly modules: string
}

/** Downloads the package of the kernel into a folder, with apt, and unpacks it. */
export function fetchKernel(folder: string): Kernel {
  const depends = execFileSync('apt-cache', ['depends', 'linux-image-cloud-amd64'], { encoding: 'utf8' })
  const [, name = ''] = /Depends: (linux-image-\S+)/.exec(depends) ?? []
  // apt has a user of its own for downloads, who may not write here.
  execFileSync('apt-get', ['-o', 'APT::Sandbox::User=root', '-qq', 'download', name], { cwd: folder })
  const archive = readdirSync(folder).find((file) => file.startsWith(name))!
  const root = join(folder, 'kernel')
  execFileSync('dpkg-deb', ['-x', join(folder, archive), root])
  const version = name.slice('linux-image-'.length)
  return {
    image: join(root, 'boot', `vmlinuz-${version}`),
    initialFiles: makeInitialFiles(folder, root, version),
    modules: networkModules(folder, root, version),
  }
}

function networkModules(folder: string, kernel: string, version: string): string {
  const [base, from] = [join(folder, 'network'), join(kernel, 'lib/modules', version)]
  const to = join(base, 'lib/modules', version)
  for (const path of networkFolders) cpSync(join(from, path), join(to, path), { recursive: true })
  for (const file of ['modules.order', 'modules.builtin']) cpSync(join(from, file), join(to, file))
  execFileSync('busybox', ['depmod', '-b', base, version])
  return join(base, 'lib/modules')
}

function makeInitialFiles(folder: string, kernel: string, version: string): string {
  const root = join(folder, 'initial')
  for (const path of ['bin', 'proc', 'dev', 'disk']) mkdirSync(join(root, path), { recursive: true })
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'))
  for (const applet of applets) symlinkSync('busybox', join(root, 'bin', applet))
  const from = join(kernel, 'lib/modules', version)
  const to = join(root, 'lib/modules', version)
  execFileSync('busybox', ['depmod', '-b', kernel, version])
  for (const file of neededFiles(join(from, 'modules.dep'))) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    copyFileSync(join(from, file), join(to, file))
  }
  for (const file of ['modules.order', 'modules.builtin']) cpSync(join(from, file), join(to, file))
  execFileSync('busybox', ['depmod', '-b', root, version])
  copyFileSync(join(import.meta.dirname, '../boot.sh'), join(root, 'init'))
  chmodSync(join(root, 'init'), 0o755)
  const archive = join(folder, 'initial.gz')
  const script = 'find . | busybox cpio -o -H newc 2>/dev/null | gzip -1'
  writeFileSync(archive, execFileSync('sh', ['-c', script], { cwd: root, maxBuffer: 1 << 28 }))
  return archive
}

/** The files of the modules and of those that they need, from lines `FILE: FILE…`. */
function neededFiles(dependencies: string): string[] {
  const lines = readFileSync(dependencies, 'utf8').split('\n')
  const nameOf = (file: string): string =>
    file
      .split('/')
      .at(-1)!
      .replace(/\.ko.*$/, '')
      .replaceAll('-', '_')
  return lines.flatMap((line) => {
    const [file = '', needed = ''] = line.split(':')
    return file && modules.includes(nameOf(file)) ? [file, ...needed.split(' ').filter(Boolean)] : []
  })
}
