/** Builds container images from files of this machine, as archives of the OCI image layout. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** The runtime configuration of an image, as in its OCI `config`. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly Env?: readonly string[]
  readonly User?: string
  readonly WorkingDir?: string
  readonly StopSignal?: string
}

interface Blob {
  readonly digest: string
  readonly bytes: Buffer
}

/** A layer: its compressed blob, and the digest of its archive. */
interface Layer extends Blob {
  readonly diffId: string
}

const sha256 = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const blobOf = (content: Buffer): Blob => ({ digest: sha256(content), bytes: content })

const jsonBlob = (value: unknown): Blob => blobOf(Buffer.from(JSON.stringify(value)))

export interface LayerOptions {
  /** The level of gzip; 0 for large files, which take long. Default: gzip's. */
  readonly compression?: number
}

/** Packs the files that `fill` writes into a folder; files belong to root. */
export function layerOf(fill: (folder: string) => void, { compression }: LayerOptions = {}): Layer {
  const folder = mkdtempSync(join(tmpdir(), 't8s-layer-'))
  try {
    chmodSync(folder, 0o755)
    fill(folder)
    const archive = tar(folder)
    return {
      ...blobOf(gzipSync(archive, compression === undefined ? {} : { level: compression })),
      diffId: sha256(archive),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const tar = (folder: string): Buffer =>
  execFileSync('tar', ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '-cf', '-', '.'], {
    cwd: folder,
    maxBuffer: 256 * 1024 * 1024,
  })

/** Writes the archive of an image into `file`; `names` are its full names with tags. */
export function writeImage(
  file: string,
  names: readonly string[],
  layers: readonly Layer[],
  config: ImageConfig,
): void {
  const platform = { architecture: process.arch === 'arm64' ? 'arm64' : 'amd64', os: 'linux' }
  const image = jsonBlob({
    ...platform,
    config: { Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'], ...config },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  })
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...descriptorOf(image) },
    layers: layers.map((layer) => ({
      mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
      ...descriptorOf(layer),
    })),
  })
  const index = {
    schemaVersion: 2,
    manifests: names.map((name) => ({
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      ...descriptorOf(manifest),
      platform,
      annotations: { 'io.containerd.image.name': name },
    })),
  }
  writeLayout(file, index, [image, manifest, ...layers])
}

const descriptorOf = ({ digest, bytes }: Blob) => ({ digest, size: bytes.length })

function writeLayout(file: string, index: unknown, blobs: readonly Blob[]): void {
  const folder = mkdtempSync(join(tmpdir(), 't8s-image-'))
  try {
    writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
    writeFileSync(join(folder, 'index.json'), JSON.stringify(index))
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
    for (const { digest, bytes } of blobs) writeFileSync(join(folder, 'blobs', digest.replace(':', '/')), bytes)
    writeFileSync(file, tar(folder))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const users = [
  'root:x:0:0:root:/root:/bin/sh',
  'daemon:x:1:1:daemon:/usr/sbin:/bin/false',
  'www-data:x:33:33:www-data:/var/www:/bin/false',
  'nobody:x:65534:65534:nobody:/home:/bin/false',
]

/** A small system of Debian's `busybox-static`: its applets are hard links, so that each can be masked alone. */
export const busyboxLayer = (): Layer =>
  layerOf((folder) => {
    for (const path of ['bin', 'dev', 'etc', 'home', 'proc', 'root', 'sys', 'tmp', 'usr/bin', 'var/log', 'var/run'])
      mkdirSync(join(folder, path), { recursive: true })
    chmodSync(join(folder, 'tmp'), 0o1777)
    const busybox = join(folder, 'bin/busybox')
    copyFileSync('/bin/busybox', busybox)
    chmodSync(busybox, 0o755)
    const applets = execFileSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n')
    for (const applet of applets) if (applet !== 'busybox') linkSync(busybox, join(folder, 'bin', applet))
    writeFiles(folder, {
      'etc/passwd': `${users.join('\n')}\n`,
      'etc/group': 'root:x:0:\ndaemon:x:1:\nwww-data:x:33:\nnogroup:x:65534:\n',
    })
  })

/** Programs of this machine, with the libraries that they need. */
export const programLayer = (...programs: readonly string[]): Layer =>
  layerOf((folder) => copyFiles(folder, [...programs, ...programs.flatMap(librariesOf)]))

/** The libraries that a program needs. */
export const librariesOf = (program: string): string[] =>
  execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? []

/** Copies files of this machine to the same paths below a folder. */
export function copyFiles(folder: string, paths: readonly string[]): void {
  for (const path of new Set(paths)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(path, join(folder, path))
  }
}

/** Writes files by their paths below a folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
