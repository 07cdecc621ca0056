/** A credential provider: a shell script that prints the login of the test's registry and records its requests. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { registryHost, registryLogin } from './registry.ts'

export interface CredentialProvider {
  /** The flags of the kubelet. */
  readonly flags: readonly string[]
  /** The requests so far, with the argument and the variable of each run. */
  requests(): readonly string[]
}

const version = 'credentialprovider.kubelet.k8s.io/v1'

/** Writes the script and its configuration below a folder. */
export function writeCredentialProvider(folder: string): CredentialProvider {
  const programs = join(folder, 'credential-providers')
  const config = join(folder, 'credential-providers.json')
  const record = join(folder, 'credential-requests')
  mkdirSync(programs)
  writeFileSync(record, '')
  const response = {
    kind: 'CredentialProviderResponse',
    apiVersion: version,
    cacheKeyType: 'Registry',
    auth: { [registryHost]: registryLogin },
  }
  const script = `#!/bin/sh\necho "$1 $REALM $(cat)" >>${record}\ncat <<'END'\n${JSON.stringify(response)}\nEND\n`
  const program = join(programs, 'test-provider')
  writeFileSync(program, script)
  chmodSync(program, 0o755)
  const provider = {
    name: 'test-provider',
    apiVersion: version,
    matchImages: [`${registryHost}/private`],
    defaultCacheDuration: '1h',
    args: ['get'],
    env: [{ name: 'REALM', value: 'test' }],
  }
  const content = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] }
  writeFileSync(config, JSON.stringify(content))
  return {
    flags: [`--image-credential-provider-config=${config}`, `--image-credential-provider-bin-dir=${programs}`],
    requests: () => readFileSync(record, 'utf8').split('\n').filter(Boolean),
  }
}
