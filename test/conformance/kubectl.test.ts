/** The suites of kubectl, with the oldest and the newest installed kubectl, on simulated nodes. */
import { describe } from 'node:test'
import { installedKubectls } from '../support/kubectl.ts'
import { kubectlStart, kubectlSuite } from './suites/kubectl.ts'
import { serverCommandSuite } from './suites/kubectl-server.ts'
import { simulatedNodes } from './support/pod-nodes.ts'

const nodes = simulatedNodes(2)
const installed = installedKubectls()

for (const program of installed.filter((_, index) => index === 0 || index === installed.length - 1))
  describe(`kubectl ${program.version}`, () => {
    const start = kubectlStart(nodes, program)
    kubectlSuite(start)
    serverCommandSuite(start)
  })
