import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointChain, isChainOfPort, portChains } from './chain-names.ts'
import { anEndpoint, aPort } from './proxied-port.fixture.ts'

test('names of chains are those of upstream', () => {
  const hash = (service: string, name: string, protocol: 'TCP' | 'UDP' = 'TCP', namespace = 'default'): string =>
    portChains(aPort({ namespace, service, name, protocol })).cluster
  assert.equal(hash('kubernetes', 'https'), 'KUBE-SVC-NPX46M4PTMTKRN6Y')
  assert.equal(hash('nginx', 'http'), 'KUBE-SVC-P4Q3KNUAWJVP4ILH')
  assert.equal(hash('kube-dns', 'dns', 'UDP', 'kube-system'), 'KUBE-SVC-TCOU7JCQXEZGVUNU')
  assert.equal(hash('kube-dns', 'dns-tcp', 'TCP', 'kube-system'), 'KUBE-SVC-ERIFXISQEP7F7OF4')
  assert.equal(hash('kube-dns', 'metrics', 'TCP', 'kube-system'), 'KUBE-SVC-JD5MR3NA4I4DYORP')
  assert.equal(endpointChain(aPort(), anEndpoint('172.17.0.4')), 'KUBE-SEP-GL7IUDQTUTXSADHR')
})

test('only chains of ports and endpoints count as such', () => {
  for (const chain of ['KUBE-SVC-A', 'KUBE-SVL-A', 'KUBE-EXT-A', 'KUBE-FW-A', 'KUBE-SEP-A'])
    assert(isChainOfPort(chain))
  for (const chain of ['KUBE-SERVICES', 'KUBE-FIREWALL', 'KUBE-PROXY-CANARY', 'X-KUBE-SVC-A'])
    assert(!isChainOfPort(chain))
})
