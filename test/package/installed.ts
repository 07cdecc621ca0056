/** The package as its users have it: packed, and installed in an empty project, beside the versions of Node to try. */
import { execFile } from 'node:child_process'
import { globSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { oldestNode } from '../../src/lib/process/supported-node.ts'

const execute = promisify(execFile)
export const repository = join(import.meta.dirname, '../..')

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program in `cwd`, with `bin` first in PATH; returns its exit code and output. */
export async function run(bin: string, cwd: string, program: string, ...args: string[]): Promise<Outcome> {
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, npm_config_update_notifier: 'false' }
  try {
    return { code: 0, ...(await execute(program, args, { cwd, env, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 })) }
  } catch (error) {
    const { code, stdout = '', stderr = String(error) } = error as Partial<Outcome>
    return { code: typeof code === 'number' ? code : -1, stdout, stderr }
  }
}

const npmInstall = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

/** The folders of programs of the oldest supported Node, of the newest one, and of one that is too old. */
export interface Nodes {
  readonly oldest: string
  readonly newest: string
  readonly tooOld: string
}

/** Installs versions of Node. Rejects if the registry cannot be reached and they were never downloaded. */
export async function installNodes(folder: string): Promise<Nodes> {
  const versions = { oldest: oldestNode, newest: 'latest', 'too-old': '20.0.0' }
  const wanted = Object.entries(versions).map(
    ([name, version]) => `node-${name}@npm:node-linux-${process.arch}@${version}`,
  )
  await project(folder)
  const { code, stderr } = await run(dirname(process.execPath), folder, 'npm', ...npmInstall, ...wanted)
  if (code !== 0) throw new Error(`cannot install the versions of Node: ${stderr}`)
  const bin = (name: string): string => join(folder, 'node_modules', `node-${name}`, 'bin')
  return { oldest: bin('oldest'), newest: bin('newest'), tooOld: bin('too-old') }
}

/** Packs this checkout as it is built; returns the file and the names of its files. */
export async function pack(folder: string): Promise<{ readonly tarball: string; readonly files: readonly string[] }> {
  const bin = dirname(process.execPath)
  mkdirSync(folder, { recursive: true })
  const types = await run(bin, repository, 'node', 'scripts/generate/published-types.ts')
  if (types.code !== 0) throw new Error(`no declarations: ${types.stdout}${types.stderr}`)
  const options = ['--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder]
  const { stdout } = await run(bin, repository, 'npm', 'pack', ...options)
  const [packed] = Object.values(
    JSON.parse(stdout) as Record<string, { readonly filename: string; readonly files: readonly { path: string }[] }>,
  )
  return { tarball: join(folder, packed!.filename), files: packed!.files.map(({ path }) => path) }
}

/** Installs the package into an empty project, with the Node of `bin`. */
export async function install(bin: string, folder: string, tarball: string): Promise<Outcome> {
  await project(folder)
  return run(bin, folder, 'npm', ...npmInstall, tarball)
}

async function project(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "project", "private": true, "type": "module" }\n')
}

interface InstalledPackage {
  readonly name: string
  readonly scripts?: Readonly<Record<string, string>>
}

/** The packages of a project, and the size of all files in bytes. */
export function installed(folder: string): { readonly packages: readonly InstalledPackage[]; readonly bytes: number } {
  const modules = join(folder, 'node_modules')
  return {
    packages: globSync(['*/package.json', '@*/*/package.json'], { cwd: modules })
      .sort()
      .map((file) => JSON.parse(readFileSync(join(modules, file), 'utf8')) as InstalledPackage),
    bytes: globSync('**', { cwd: modules })
      .map((file) => lstatSync(join(modules, file)))
      .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0),
  }
}
