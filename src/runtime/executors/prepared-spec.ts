/** The configuration of a container in its folder. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OciSpec } from '../spec/oci-spec.ts'

export function writeSpec(folder: string, spec: OciSpec): void {
  writeFileSync(join(folder, 'config.json'), JSON.stringify(spec), { mode: 0o600 })
}

export const readSpec = (folder: string): OciSpec =>
  JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as OciSpec
