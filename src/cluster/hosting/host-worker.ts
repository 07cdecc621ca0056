/** The entry of the thread of clusters. */
import { parentPort } from 'node:worker_threads'
import { hostClusters } from './hosted-clusters.ts'

hostClusters(parentPort!)
