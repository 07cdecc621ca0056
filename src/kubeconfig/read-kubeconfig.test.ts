import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readKubeconfig } from './read-kubeconfig.ts'

test('reads the kubeconfig of a webhook, and files with relative paths', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-kubeconfig-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'ca.pem'), 'CA')
  const file = join(folder, 'config')
  const write = (text: string): string => {
    writeFileSync(file, text)
    return file
  }
  const clusters =
    'clusters:\n- name: c\n  cluster: { server: "https://example.com:8443/a", certificate-authority: ca.pem, ' +
    'tls-server-name: hook }\n'
  const { url, ...rest } = await readKubeconfig(write(`${clusters}users:\n- name: u\n  user: { tokenFile: token }\n`))
  assert.equal(url.href, 'https://example.com:8443/a')
  assert.deepEqual(rest, { insecure: false, ca: 'CA', serverName: 'hook', tokenFile: join(folder, 'token') })
  const fails = (text: string, message: RegExp) => assert.rejects(readKubeconfig(write(text)), message)
  await fails('clusters: []', /it has no server/)
  await fails(clusters.replace('https', 'http'), /"http:\/\/example\.com:8443\/a" is not an https URL/)
  await fails(clusters.replace('ca.pem', 'gone.pem'), /cannot read .*gone\.pem: no such file or directory/)
  await fails(
    `${clusters}users:\n- name: u\n  user: { exec: { command: x } }\n`,
    /plug-ins for credentials .* are not run/,
  )
  await fails(
    `${clusters}users:\n- name: u\n  user: { client-certificate-data: eA== }\n`,
    /client-certificate and client-key go together/,
  )
  await fails('{', /the kubeconfig .* cannot be used/)
})
