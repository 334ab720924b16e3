import { defineConfig } from 'prisma/config';

// `prisma migrate deploy` needs the address of the database; the product itself never reads this file.
export default defineConfig({
  schema: 'prisma/schema',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['AIVEDIO_DATABASE_URL'] ?? 'postgresql://localhost:5432/aivedio' },
});
