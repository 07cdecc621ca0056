/** Throws on a version of Node that is too old. The entries of the package load it first, before all other modules. */
import { unsupportedNode } from './supported-node.ts'

const problem = unsupportedNode('typernetes', process.versions.node)
if (problem) throw new Error(problem)
