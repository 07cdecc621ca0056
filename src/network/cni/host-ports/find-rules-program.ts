/** Finds the program that changes rules of packets: nft, or where there is none, iptables. */
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

export type RulesProgram = 'nft' | 'iptables'

export type FoundRulesProgram =
  | { readonly program: RulesProgram; readonly problem?: undefined }
  | { readonly program?: undefined; readonly problem: string }

/** `path` has folders with `:` between them. Default: `$PATH`. */
export function findRulesProgram(path: string = process.env.PATH ?? ''): FoundRulesProgram {
  const folders = path.split(':').filter((folder) => folder !== '')
  const isInstalled = (name: string): boolean => folders.some((folder) => isProgram(join(folder, name)))
  if (isInstalled('nft')) return { program: 'nft' }
  if (isInstalled('iptables') && isInstalled('iptables-restore')) return { program: 'iptables' }
  return {
    problem:
      'neither nft nor iptables is installed, which masquerade pods and forward host ports: ' +
      'apt-get install nftables (or iptables)',
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
