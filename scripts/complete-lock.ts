/**
 * Completes package-lock.json: adds the packages of other platforms that `npm install` leaves out if the registry does
 * not have them, because `npm ci` requires all of them. Run it (`npm run lock`) after changing dependencies.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockedPackage {
  version?: string
  dev?: boolean
  optional?: boolean
  cpu?: string[]
  os?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const file = join(import.meta.dirname, '../package-lock.json')
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> }

const systems = ['android', 'darwin', 'freebsd', 'openharmony', 'linux', 'win32']
const processors: readonly (readonly [RegExp, string])[] = [
  [/arm64/, 'arm64'],
  [/\barm\b/, 'arm'],
  [/x64/, 'x64'],
  [/ia32/, 'ia32'],
  [/ppc64/, 'ppc64'],
  [/riscv64/, 'riscv64'],
  [/s390x/, 's390x'],
]

/** Derives the platform from a package name such as `@oxlint/binding-linux-x64-musl`. */
function platformOf(name: string): Pick<LockedPackage, 'cpu' | 'os' | 'libc'> {
  const system = systems.find((system) => name.includes(system))
  const processor = processors.find(([pattern]) => pattern.test(name))?.[1]
  if (!system || !processor) throw new Error(`${name} has no platform in its name: add it to package-lock.json by hand`)
  const libc = name.includes('musl') ? ['musl'] : name.includes('gnu') ? ['glibc'] : undefined
  return { cpu: [processor], ...(libc && { libc }), os: [system] }
}

let added = 0
for (const { dev, optionalDependencies } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    const path = `node_modules/${name}`
    if (lock.packages[path]) continue
    lock.packages[path] = {
      version: version.replace(/^[\^~]/, ''),
      ...(dev && { dev }),
      optional: true,
      ...platformOf(name),
    }
    added++
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`package-lock.json: ${added} packages of other platforms added`)
