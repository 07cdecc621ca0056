/** Images of a runtime under test: a folder with Debian's busybox, mounted for each container by overlayfs. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerImages } from '../../../src/runtime/images-interface.ts'

export function folderImages(folder: string): ContainerImages {
  const base = join(folder, 'base')
  if (!existsSync(base)) fill(base)
  return imagesOf(folder, base)
}

function fill(base: string): void {
  for (const path of ['bin', 'dev', 'etc', 'home', 'proc', 'root', 'sys', 'tmp', 'var'])
    mkdirSync(join(base, path), { recursive: true })
  chmodSync(join(base, 'tmp'), 0o1777)
  copyFileSync('/bin/busybox', join(base, 'bin/busybox'))
  for (const applet of execFileSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n'))
    if (applet !== 'busybox') linkSync(join(base, 'bin/busybox'), join(base, 'bin', applet))
  writeFileSync(join(base, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nwww-data:x:33:33::/var:/bin/false\n')
  writeFileSync(join(base, 'etc/group'), 'root:x:0:\nwww-data:x:33:\nextra:x:50:www-data\n')
}

function imagesOf(folder: string, base: string): ContainerImages {
  const rootOf = (id: string): string => join(folder, 'roots', id, 'root')
  return {
    async find(reference) {
      const defaults = { entrypoint: [], cmd: ['sh'], env: [], user: '', workingDir: '', stopSignal: '' }
      return reference === 'busybox' ? { id: `sha256:${'b'.repeat(64)}`, reference, defaults } : undefined
    },
    async prepareRoot(id) {
      const parts = ['root', 'upper', 'work'].map((name) => join(folder, 'roots', id, name))
      for (const part of parts) mkdirSync(part, { recursive: true })
      const [root, upper, work] = parts
      const options = `lowerdir=${base},upperdir=${upper},workdir=${work}`
      execFileSync('mount', ['-t', 'overlay', '-o', options, 'overlay', root!])
      return root!
    },
    async removeRoot(id) {
      if (!existsSync(rootOf(id))) return
      execFileSync('umount', [rootOf(id)])
      rmSync(join(folder, 'roots', id), { recursive: true })
    },
    async writableUsage() {
      return { bytes: 0, inodes: 0, mountpoint: folder }
    },
  }
}
