/**
 * Build step: generates the messages of gRPC services from `src/**\/NAME.proto`: `.build/protobuf/NAME_pb.js` and its
 * types, which code imports as `#protobuf/NAME_pb.js`. Does nothing if they are up to date.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const packages = join(root, 'node_modules')
const output = join(root, '.build/protobuf')
const stampFile = join(output, 'stamp')

/** Returns a hash of the generator's version, this script and the sources. */
function stampOf(sources: readonly string[]): string {
  const hash = createHash('sha256')
    .update(readFileSync(join(packages, '@bufbuild/protoc-gen-es/package.json')))
    .update(readFileSync(import.meta.filename))
  for (const source of sources) hash.update(source).update(readFileSync(join(root, source)))
  return hash.digest('hex')
}

/** Generates the messages of all files of a folder. */
function generate(folder: string, into: string): void {
  const template = {
    version: 'v2',
    plugins: [
      {
        local: [process.execPath, join(packages, '@bufbuild/protoc-gen-es/bin/protoc-gen-es')],
        out: into,
        opt: ['target=js+dts', 'import_extension=js', 'erasable_syntax=true'],
      },
    ],
  }
  execFileSync(join(packages, '.bin/buf'), ['generate', folder, '--template', JSON.stringify(template)], {
    cwd: root,
    // Its launcher is a script, which needs a `node`.
    env: {
      ...process.env,
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      BUF_CACHE_DIR: join(root, '.build/buf-cache'),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

/** Throws an Error if two files have the same name, because they would be generated into one. */
function checkNames(sources: readonly string[]): void {
  const names = sources.map((source) => basename(source))
  const repeated = names.find((name, i) => names.indexOf(name) !== i)
  if (repeated) throw new Error(`there are two files ${repeated}: rename one of them`)
}

const sources = globSync('src/**/*.proto', { cwd: root }).sort()
const stamp = stampOf(sources)
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  checkNames(sources)
  const temporary = `${output}.${process.pid}`
  try {
    for (const folder of new Set(sources.map(dirname))) generate(folder, temporary)
    writeFileSync(join(temporary, 'stamp'), stamp)
    rmSync(output, { recursive: true, force: true })
    renameSync(temporary, output)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}
