export { type Config, defineConfig } from './cli/config.ts'
