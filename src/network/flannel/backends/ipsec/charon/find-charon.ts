/** Finds strongSwan's daemon charon where distributions have it. */
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Upstream's places after those of the path: Alpine and Arch, Debian, CentOS, openSUSE. */
const files = ['strongswan', 'ipsec']
  .map((name) => `/usr/lib/${name}/charon`)
  .concat(['strongswan', 'ipsec'].map((name) => `/usr/libexec/${name}/charon`))

/** The packages of Debian that have charon, its control socket, and its ciphers. */
const packages = 'strongswan-charon, strongswan-swanctl and libstrongswan-standard-plugins'

/** @throws an Error with the places, and the names of packages. */
export function findCharon(path = ''): string {
  const folders = path.split(':').filter((folder) => folder !== '')
  const found = [...folders.map((folder) => join(folder, 'charon')), ...files].find(isExecutable)
  if (found !== undefined) return found
  throw new Error(
    `no valid charon executable found in the path, nor as ${files.join(', ')}: install strongSwan; in Debian, ` +
      `the packages ${packages}`,
  )
}

/** The hint for a charon without its control socket. */
export const viciHint = `its plugin vici is missing: in Debian, install ${packages}`

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
