export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Database = {
  // Allows to automatically instantiate createClient with right options
  // instead of createClient<Database, { PostgrestVersion: 'XX' }>(URL, KEY)
  __InternalSupabase: {
    PostgrestVersion: "14.5";
  };
  public: {
    Tables: {
      bookings: {
        Row: {
          buffer_after: number;
          buffer_before: number;
          cancel_reason: string | null;
          cancellation_notice: number;
          cancelled_at: string | null;
          cancelled_by: string | null;
          checkout_open: boolean;
          client_id: string | null;
          created_at: string;
          currency: string;
          email_confirmed_at: string | null;
          ends_at: string;
          expires_at: string | null;
          id: string;
          internal_notes: string | null;
          metadata: NonNullable<Json>;
          notes: string | null;
          price: number;
          professional_id: string;
          service_id: string | null;
          service_name: string | null;
          source: string;
          starts_at: string;
          status: string;
          updated_at: string;
          version: number;
        };
        Insert: {
          buffer_after?: number;
          buffer_before?: number;
          cancel_reason?: string | null;
          cancellation_notice?: number;
          cancelled_at?: string | null;
          cancelled_by?: string | null;
          checkout_open?: boolean;
          client_id?: string | null;
          created_at?: string;
          currency?: string;
          email_confirmed_at?: string | null;
          ends_at?: string;
          expires_at?: string | null;
          id?: string;
          internal_notes?: string | null;
          metadata?: NonNullable<Json>;
          notes?: string | null;
          price?: number;
          professional_id?: string;
          service_id?: string | null;
          service_name?: string | null;
          source?: string;
          starts_at: string;
          status?: string;
          updated_at?: string;
          version?: number;
        };
        Update: {
          buffer_after?: number;
          buffer_before?: number;
          cancel_reason?: string | null;
          cancellation_notice?: number;
          cancelled_at?: string | null;
          cancelled_by?: string | null;
          checkout_open?: boolean;
          client_id?: string | null;
          created_at?: string;
          currency?: string;
          email_confirmed_at?: string | null;
          ends_at?: string;
          expires_at?: string | null;
          id?: string;
          internal_notes?: string | null;
          metadata?: NonNullable<Json>;
          notes?: string | null;
          price?: number;
          professional_id?: string;
          service_id?: string | null;
          service_name?: string | null;
          source?: string;
          starts_at?: string;
          status?: string;
          updated_at?: string;
          version?: number;
        };
        Relationships: [
          {
            foreignKeyName: "bookings_professional_id_client_id_fkey";
            columns: ["professional_id", "client_id"];
            isOneToOne: false;
            referencedRelation: "clients";
            referencedColumns: ["professional_id", "id"];
          },
          {
            foreignKeyName: "bookings_professional_id_fkey";
            columns: ["professional_id"];
            isOneToOne: false;
            referencedRelation: "profiles";
            referencedColumns: ["id"];
          },
          {
            foreignKeyName: "bookings_professional_id_service_id_fkey";
            columns: ["professional_id", "service_id"];
            isOneToOne: false;
            referencedRelation: "services";
            referencedColumns: ["professional_id", "id"];
          },
        ];
      };
      clients: {
        Row: {
          archived: boolean;
          created_at: string;
          email: string | null;
          email_key: string | null;
          id: string;
          language: string | null;
          link_epoch: number;
          mail_status: string;
          metadata: NonNullable<Json>;
          name: string;
          notes: string | null;
          phone: string | null;
          professional_id: string;
          reminders: boolean;
          tags: string[];
          updated_at: string;
        };
        Insert: {
          archived?: boolean;
          created_at?: string;
          email?: string | null;
          email_key?: never;
          id?: string;
          language?: string | null;
          link_epoch?: number;
          mail_status?: string;
          metadata?: NonNullable<Json>;
          name: string;
          notes?: string | null;
          phone?: string | null;
          professional_id?: string;
          reminders?: boolean;
          tags?: string[];
          updated_at?: string;
        };
        Update: {
          archived?: boolean;
          created_at?: string;
          email?: string | null;
          email_key?: never;
          id?: string;
          language?: string | null;
          link_epoch?: number;
          mail_status?: string;
          metadata?: NonNullable<Json>;
          name?: string;
          notes?: string | null;
          phone?: string | null;
          professional_id?: string;
          reminders?: boolean;
          tags?: string[];
          updated_at?: string;
        };
        Relationships: [
          {
            foreignKeyName: "clients_professional_id_fkey";
            columns: ["professional_id"];
            isOneToOne: false;
            referencedRelation: "profiles";
            referencedColumns: ["id"];
          },
        ];
      };
      orders: {
        Row: {
          amount_paid: number;
          amount_refunded: number;
          booking_id: string | null;
          checkout_open: boolean;
          client_id: string;
          created_at: string;
          currency: string;
          deposit: number | null;
          discount: number;
          email_confirmed_at: string | null;
          expires_at: string | null;
          id: string;
          internal_notes: string | null;
          items: NonNullable<Json>;
          kind: string;
          metadata: NonNullable<Json>;
          notes: string | null;
          number: number;
          payment_status: string;
          professional_id: string;
          shipping_address: Json | null;
          source: string;
          status: string;
          subtotal: number;
          tax: number;
          total: number;
          updated_at: string;
          version: number;
        };
        Insert: {
          amount_paid?: number;
          amount_refunded?: number;
          booking_id?: string | null;
          checkout_open?: boolean;
          client_id?: string;
          created_at?: string;
          currency?: string;
          deposit?: number | null;
          discount?: number;
          email_confirmed_at?: string | null;
          expires_at?: string | null;
          id?: string;
          internal_notes?: string | null;
          items?: NonNullable<Json>;
          kind?: string;
          metadata?: NonNullable<Json>;
          notes?: string | null;
          number?: number;
          payment_status?: never;
          professional_id?: string;
          shipping_address?: Json | null;
          source?: string;
          status?: string;
          subtotal?: number;
          tax?: number;
          total?: number;
          updated_at?: string;
          version?: number;
        };
        Update: {
          amount_paid?: number;
          amount_refunded?: number;
          booking_id?: string | null;
          checkout_open?: boolean;
          client_id?: string;
          created_at?: string;
          currency?: string;
          deposit?: number | null;
          discount?: number;
          email_confirmed_at?: string | null;
          expires_at?: string | null;
          id?: string;
          internal_notes?: string | null;
          items?: NonNullable<Json>;
          kind?: string;
          metadata?: NonNullable<Json>;
          notes?: string | null;
          number?: number;
          payment_status?: never;
          professional_id?: string;
          shipping_address?: Json | null;
          source?: string;
          status?: string;
          subtotal?: number;
          tax?: number;
          total?: number;
          updated_at?: string;
          version?: number;
        };
        Relationships: [
          {
            foreignKeyName: "orders_professional_id_booking_id_fkey";
            columns: ["professional_id", "booking_id"];
            isOneToOne: false;
            referencedRelation: "bookings";
            referencedColumns: ["professional_id", "id"];
          },
          {
            foreignKeyName: "orders_professional_id_client_id_fkey";
            columns: ["professional_id", "client_id"];
            isOneToOne: false;
            referencedRelation: "clients";
            referencedColumns: ["professional_id", "id"];
          },
          {
            foreignKeyName: "orders_professional_id_fkey";
            columns: ["professional_id"];
            isOneToOne: false;
            referencedRelation: "profiles";
            referencedColumns: ["id"];
          },
        ];
      };
      products: {
        Row: {
          active: boolean;
          category: string | null;
          created_at: string;
          description: string | null;
          id: string;
          image_url: string | null;
          in_stock: boolean;
          low_stock_at: number | null;
          metadata: NonNullable<Json>;
          name: string;
          options: NonNullable<Json>;
          parent_id: string | null;
          price: number;
          professional_id: string;
          sku: string | null;
          stock: number | null;
          updated_at: string;
          parent: {
            active: boolean;
            category: string | null;
            created_at: string;
            description: string | null;
            id: string;
            image_url: string | null;
            in_stock: boolean;
            low_stock_at: number | null;
            metadata: NonNullable<Json>;
            name: string;
            options: NonNullable<Json>;
            parent_id: string | null;
            price: number;
            professional_id: string;
            sku: string | null;
            stock: number | null;
            updated_at: string;
          } | null;
          variants: {
            active: boolean;
            category: string | null;
            created_at: string;
            description: string | null;
            id: string;
            image_url: string | null;
            in_stock: boolean;
            low_stock_at: number | null;
            metadata: NonNullable<Json>;
            name: string;
            options: NonNullable<Json>;
            parent_id: string | null;
            price: number;
            professional_id: string;
            sku: string | null;
            stock: number | null;
            updated_at: string;
          } | null;
        };
        Insert: {
          active?: boolean;
          category?: string | null;
          created_at?: string;
          description?: string | null;
          id?: string;
          image_url?: string | null;
          in_stock?: boolean;
          low_stock_at?: number | null;
          metadata?: NonNullable<Json>;
          name: string;
          options?: NonNullable<Json>;
          parent_id?: string | null;
          price: number;
          professional_id?: string;
          sku?: string | null;
          stock?: number | null;
          updated_at?: string;
        };
        Update: {
          active?: boolean;
          category?: string | null;
          created_at?: string;
          description?: string | null;
          id?: string;
          image_url?: string | null;
          in_stock?: boolean;
          low_stock_at?: number | null;
          metadata?: NonNullable<Json>;
          name?: string;
          options?: NonNullable<Json>;
          parent_id?: string | null;
          price?: number;
          professional_id?: string;
          sku?: string | null;
          stock?: number | null;
          updated_at?: string;
        };
        Relationships: [
          {
            foreignKeyName: "products_professional_id_fkey";
            columns: ["professional_id"];
            isOneToOne: false;
            referencedRelation: "profiles";
            referencedColumns: ["id"];
          },
          {
            foreignKeyName: "products_professional_id_parent_id_fkey";
            columns: ["professional_id", "parent_id"];
            isOneToOne: false;
            referencedRelation: "products";
            referencedColumns: ["professional_id", "id"];
          },
        ];
      };
      profiles: {
        Row: {
          accepts_bookings: boolean;
          accepts_orders: boolean;
          address: string | null;
          availability: NonNullable<Json>;
          bio: string | null;
          contact_email: string | null;
          contact_phone: string | null;
          created_at: string;
          currency: string;
          full_name: string;
          id: string;
          image_url: string | null;
          language: string;
          mail_footer: string | null;
          mail_settings: NonNullable<Json>;
          niche: string | null;
          orders_need_payment: boolean;
          payment_minutes: number;
          prices_include_tax: boolean;
          public_contact: string[];
          reminders: number[];
          tax_rate: number;
          tier: string;
          time_zone: string;
          unpaid_order_hours: number | null;
          updated_at: string;
          username: string;
          verify_public_email: boolean;
        };
        Insert: {
          accepts_bookings?: boolean;
          accepts_orders?: boolean;
          address?: string | null;
          availability?: NonNullable<Json>;
          bio?: string | null;
          contact_email?: string | null;
          contact_phone?: string | null;
          created_at?: string;
          currency?: string;
          full_name?: string;
          id: string;
          image_url?: string | null;
          language?: string;
          mail_footer?: string | null;
          mail_settings?: NonNullable<Json>;
          niche?: string | null;
          orders_need_payment?: boolean;
          payment_minutes?: number;
          prices_include_tax?: boolean;
          public_contact?: string[];
          reminders?: number[];
          tax_rate?: number;
          tier?: string;
          time_zone?: string;
          unpaid_order_hours?: number | null;
          updated_at?: string;
          username: string;
          verify_public_email?: boolean;
        };
        Update: {
          accepts_bookings?: boolean;
          accepts_orders?: boolean;
          address?: string | null;
          availability?: NonNullable<Json>;
          bio?: string | null;
          contact_email?: string | null;
          contact_phone?: string | null;
          created_at?: string;
          currency?: string;
          full_name?: string;
          id?: string;
          image_url?: string | null;
          language?: string;
          mail_footer?: string | null;
          mail_settings?: NonNullable<Json>;
          niche?: string | null;
          orders_need_payment?: boolean;
          payment_minutes?: number;
          prices_include_tax?: boolean;
          public_contact?: string[];
          reminders?: number[];
          tax_rate?: number;
          tier?: string;
          time_zone?: string;
          unpaid_order_hours?: number | null;
          updated_at?: string;
          username?: string;
          verify_public_email?: boolean;
        };
        Relationships: [];
      };
      services: {
        Row: {
          active: boolean;
          buffer_after: number;
          buffer_before: number;
          cancellation_notice: number;
          category: string | null;
          created_at: string;
          deposit: number | null;
          description: string | null;
          duration: number;
          id: string;
          image_url: string | null;
          instructions: string | null;
          location: string | null;
          max_advance_days: number;
          metadata: NonNullable<Json>;
          min_notice: number;
          name: string;
          payment: string;
          price: number;
          professional_id: string;
          requires_confirmation: boolean;
          slot_step: number | null;
          updated_at: string;
        };
        Insert: {
          active?: boolean;
          buffer_after?: number;
          buffer_before?: number;
          cancellation_notice?: number;
          category?: string | null;
          created_at?: string;
          deposit?: number | null;
          description?: string | null;
          duration: number;
          id?: string;
          image_url?: string | null;
          instructions?: string | null;
          location?: string | null;
          max_advance_days?: number;
          metadata?: NonNullable<Json>;
          min_notice?: number;
          name: string;
          payment?: string;
          price: number;
          professional_id?: string;
          requires_confirmation?: boolean;
          slot_step?: number | null;
          updated_at?: string;
        };
        Update: {
          active?: boolean;
          buffer_after?: number;
          buffer_before?: number;
          cancellation_notice?: number;
          category?: string | null;
          created_at?: string;
          deposit?: number | null;
          description?: string | null;
          duration?: number;
          id?: string;
          image_url?: string | null;
          instructions?: string | null;
          location?: string | null;
          max_advance_days?: number;
          metadata?: NonNullable<Json>;
          min_notice?: number;
          name?: string;
          payment?: string;
          price?: number;
          professional_id?: string;
          requires_confirmation?: boolean;
          slot_step?: number | null;
          updated_at?: string;
        };
        Relationships: [
          {
            foreignKeyName: "services_professional_id_fkey";
            columns: ["professional_id"];
            isOneToOne: false;
            referencedRelation: "profiles";
            referencedColumns: ["id"];
          },
        ];
      };
    };
    Views: {
      [_ in never]: never;
    };
    Functions: {
      adjust_stock: {
        Args: {
          delta: number;
          expected_stock?: number;
          product_id: string;
          reason: string;
        };
        Returns: Database["public"]["CompositeTypes"]["stock_level"];
        SetofOptions: {
          from: "*";
          to: "stock_level";
          isOneToOne: true;
          isSetofReturn: false;
        };
      };
      api_keys: { Args: Record<PropertyKey, never>; Returns: Json };
      attach_payment_account: {
        Args: {
          account_id: string;
          attempt_id: string;
          livemode: boolean;
          professional_id: string;
        };
        Returns: undefined;
      };
      audit: {
        Args: Record<PropertyKey, never>;
        Returns: Database["public"]["CompositeTypes"]["audit_finding"][];
        SetofOptions: {
          from: "*";
          to: "audit_finding";
          isOneToOne: false;
          isSetofReturn: true;
        };
      };
      authorize_action: { Args: { by_person?: boolean }; Returns: undefined };
      authorize_checkout: { Args: { order_id: string }; Returns: undefined };
      available_slots: {
        Args: {
          from_date: string;
          reschedule_of?: string;
          service_id: string;
          to_date: string;
        };
        Returns: Json;
      };
      begin_busy_calendar: { Args: Record<PropertyKey, never>; Returns: Json };
      begin_checkout: {
        Args: {
          cancel_url: string;
          livemode: boolean;
          order_id: string;
          success_url: string;
          token?: string;
        };
        Returns: Json;
      };
      begin_google_connection: {
        Args: Record<PropertyKey, never>;
        Returns: Json;
      };
      begin_google_disconnection: {
        Args: Record<PropertyKey, never>;
        Returns: Json;
      };
      begin_refund: {
        Args: { amount?: number; payment_id: string; reason?: string };
        Returns: Json;
      };
      booking_page: { Args: { username: string }; Returns: Json };
      busy_calendars: { Args: Record<PropertyKey, never>; Returns: Json };
      calendar_feed: {
        Args: {
          etags: string[];
          ip: string;
          ip_limit: number;
          token_hash: string;
        };
        Returns: Json;
      };
      calendar_feeds: { Args: Record<PropertyKey, never>; Returns: Json };
      cancel_booking: {
        Args: { booking_id: string; reason?: string; refund?: boolean };
        Returns: Database["public"]["CompositeTypes"]["booking_receipt"];
        SetofOptions: {
          from: "*";
          to: "booking_receipt";
          isOneToOne: true;
          isSetofReturn: false;
        };
      };
      claim_account_deletions: {
        Args: { account_id: string; max_count: number };
        Returns: Json;
      };
      claim_busy_sync: { Args: Record<PropertyKey, never>; Returns: Json };
      claim_google_run: { Args: Record<PropertyKey, never>; Returns: Json };
      claim_mails: {
        Args: { max_count: number; per_second: number };
        Returns: Json;
      };
      claim_payment_tasks: {
        Args: { max_count: number; object_id?: string };
        Returns: Json;
      };
      claim_webhook_deliveries: { Args: { max_count: number }; Returns: Json };
      confirm_hold: {
        Args: { id: string; kind: string; link_epoch: number };
        Returns: Json;
      };
      confirm_professional_address: {
        Args: { email: string; professional_id: string };
        Returns: boolean;
      };
      connect_payment_account: {
        Args: Record<PropertyKey, never>;
        Returns: Json;
      };
      count_link_use: {
        Args: { ip: string; ip_limit: number };
        Returns: number;
      };
      create_api_key: {
        Args: { access: string; expires_at?: string; name: string };
        Returns: Json;
      };
      create_booking: {
        Args: {
          client_email?: string;
          client_name?: string;
          client_phone?: string;
          idempotency_key?: string;
          language?: string;
          notes?: string;
          service_id: string;
          starts_at: string;
        };
        Returns: Database["public"]["CompositeTypes"]["booking_receipt"];
        SetofOptions: {
          from: "*";
          to: "booking_receipt";
          isOneToOne: true;
          isSetofReturn: false;
        };
      };
      create_calendar_feed: {
        Args: { detail: string; name: string };
        Returns: Json;
      };
      create_webhook_endpoint: {
        Args: {
          description?: string;
          enabled?: boolean;
          events: string[];
          url: string;
        };
        Returns: Json;
      };
      delete_busy_calendar: {
        Args: { calendar_id: string };
        Returns: undefined;
      };
      delete_calendar_feed: { Args: { feed_id: string }; Returns: undefined };
      delete_google_connection: {
        Args: { connection_id: string; sealed_token: string };
        Returns: undefined;
      };
      delete_webhook_endpoint: {
        Args: { endpoint_id: string };
        Returns: undefined;
      };
      detach_payment_account: {
        Args: Record<PropertyKey, never>;
        Returns: Json;
      };
      end_portal_session: { Args: { session_id: string }; Returns: undefined };
      erase_client: { Args: { client_id: string }; Returns: Json };
      exchange_api_key: {
        Args: { ip: string; ip_limit: number; key_digest: string };
        Returns: Json;
      };
      explain_slot: {
        Args: { service_id: string; starts_at: string };
        Returns: Json;
      };
      export_account: { Args: { cursor?: string }; Returns: Json };
      export_client: { Args: { client_id: string }; Returns: Json };
      fail_checkout: {
        Args: { checkout_id: string; code: string };
        Returns: undefined;
      };
      fail_refund: {
        Args: { code: string; refund_id: string };
        Returns: undefined;
      };
      finish_account_deletion: {
        Args: { account_id: string; claim_token: string; mailed: boolean };
        Returns: undefined;
      };
      finish_busy_sync: {
        Args: {
          calendar_id: string;
          claim_token: string;
          error?: string;
          error_detail?: string;
          etag?: string;
          last_modified?: string;
          ranges?: Json;
          result: string;
          sealed_address?: string;
          time_zone?: string;
        };
        Returns: boolean;
      };
      finish_google_push: {
        Args: {
          booking_id: string;
          claim_token: string;
          connection_id: string;
          error?: string;
          result: string;
          revision: number;
        };
        Returns: boolean;
      };
      finish_google_run: {
        Args: {
          claim_token: string;
          connection_id: string;
          error?: string;
          ranges?: Json;
          result: string;
          retry_after?: number;
          sealed_token?: string;
        };
        Returns: boolean;
      };
      finish_mail: {
        Args: {
          claim_token: string;
          mail_id: string;
          provider_id?: string;
          result: string;
          retry_after?: number;
        };
        Returns: Json;
      };
      finish_payment_task: {
        Args: { claim_token: string; retry_after?: number; task_id: string };
        Returns: undefined;
      };
      finish_portal_verification: {
        Args: {
          client_id: string;
          code_hmac: string;
          generation: number;
          professional_id: string;
        };
        Returns: Json;
      };
      finish_webhook_delivery: {
        Args: {
          claim_token: string;
          delivery_id: string;
          duration_ms: number;
          error?: string;
          response?: string;
          retry_after?: number;
          status?: number;
        };
        Returns: Json;
      };
      google_connection: { Args: Record<PropertyKey, never>; Returns: Json };
      google_grant: { Args: { professional_id: string }; Returns: Json };
      health: { Args: Record<PropertyKey, never>; Returns: Json };
      mails: {
        Args: { booking_id?: string; client_id?: string; order_id?: string };
        Returns: Database["public"]["CompositeTypes"]["mail_record"][];
        SetofOptions: {
          from: "*";
          to: "mail_record";
          isOneToOne: false;
          isSetofReturn: true;
        };
      };
      next_google_event: {
        Args: { booking_id: string; claim_token: string; connection_id: string };
        Returns: string;
      };
      order_payments: {
        Args: { order_id: string };
        Returns: Database["public"]["CompositeTypes"]["order_payment"][];
        SetofOptions: {
          from: "*";
          to: "order_payment";
          isOneToOne: false;
          isSetofReturn: true;
        };
      };
      own_calendar_uids: {
        Args: { professional_id: string; uids: string[] };
        Returns: Json;
      };
      parent: {
        Args: { "": Database["public"]["Tables"]["products"]["Row"] };
        Returns: {
          active: boolean;
          category: string | null;
          created_at: string;
          description: string | null;
          id: string;
          image_url: string | null;
          in_stock: boolean;
          low_stock_at: number | null;
          metadata: NonNullable<Json>;
          name: string;
          options: NonNullable<Json>;
          parent_id: string | null;
          price: number;
          professional_id: string;
          sku: string | null;
          stock: number | null;
          updated_at: string;
        };
        SetofOptions: {
          from: "products";
          to: "products";
          isOneToOne: true;
          isSetofReturn: true;
        };
      };
      payment_account: { Args: Record<PropertyKey, never>; Returns: Json };
      place_order: {
        Args: {
          client_email?: string;
          client_name?: string;
          client_phone?: string;
          expected_total?: number;
          idempotency_key?: string;
          items: Json;
          language?: string;
          notes?: string;
          professional_id: string;
          shipping_address?: Json;
        };
        Returns: Database["public"]["CompositeTypes"]["order_receipt"];
        SetofOptions: {
          from: "*";
          to: "order_receipt";
          isOneToOne: true;
          isSetofReturn: false;
        };
      };
      quote_order: {
        Args: { items: Json; professional_id: string };
        Returns: Database["public"]["CompositeTypes"]["order_quote"];
        SetofOptions: {
          from: "*";
          to: "order_quote";
          isOneToOne: true;
          isSetofReturn: false;
        };
      };
      record_dispute: {
        Args: { account_id: string; dispute: Json };
        Returns: undefined;
      };
      record_mail_event: {
        Args: { detail?: Json; provider_id: string; type: string };
        Returns: boolean;
      };
      record_payment: {
        Args: {
          amount: number;
          method: string;
          order_id: string;
          reference?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["payment_receipt"];
        SetofOptions: {
          from: "*";
          to: "payment_receipt";
          isOneToOne: true;
          isSetofReturn: false;
        };
      };
      record_payment_account: {
        Args: { account_id: string; facts: Json };
        Returns: undefined;
      };
      record_refund: {
        Args: { account_id: string; refund: Json };
        Returns: undefined;
      };
      record_session: {
        Args: { account_id: string; session: Json };
        Returns: undefined;
      };
      redeliver_webhook: { Args: { delivery_id: string }; Returns: Json };
      redeliver_webhooks: {
        Args: { endpoint_id: string; since: string };
        Returns: Json;
      };
      refund_payment: {
        Args: {
          amount: number;
          order_id: string;
          reason?: string;
          reference?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["payment_receipt"];
        SetofOptions: {
          from: "*";
          to: "payment_receipt";
          isOneToOne: true;
          isSetofReturn: false;
        };
      };
      report_payment_mode: { Args: { livemode: boolean }; Returns: undefined };
      report_portal_address: {
        Args: { portal_url: string };
        Returns: undefined;
      };
      request_account_deletion: {
        Args: { confirmation?: string };
        Returns: Json;
      };
      request_address_confirmation: {
        Args: Record<PropertyKey, never>;
        Returns: Json;
      };
      reschedule_booking: {
        Args: { booking_id: string; starts_at: string };
        Returns: Database["public"]["CompositeTypes"]["booking_receipt"];
        SetofOptions: {
          from: "*";
          to: "booking_receipt";
          isOneToOne: true;
          isSetofReturn: false;
        };
      };
      revoke_api_key: { Args: { key_id: string }; Returns: Json };
      revoke_api_keys: { Args: Record<PropertyKey, never>; Returns: Json };
      ring_payment: {
        Args: {
          account_id: string;
          kind: string;
          livemode: boolean;
          object_id: string;
        };
        Returns: boolean;
      };
      rotate_webhook_secret: {
        Args: { endpoint_id: string; grace?: number };
        Returns: Json;
      };
      set_portal_code: {
        Args: {
          client_id: string;
          code_hmac?: string;
          generation: number;
          professional_id: string;
        };
        Returns: boolean;
      };
      start_booking_session: {
        Args: { booking_id: string; link_epoch: number };
        Returns: Json;
      };
      start_portal_code: {
        Args: {
          email: string;
          ip: string;
          ip_limit: number;
          professional_id: string;
        };
        Returns: Json;
      };
      start_portal_verification: {
        Args: {
          email: string;
          ip: string;
          ip_limit: number;
          professional_id: string;
        };
        Returns: Json;
      };
      store_busy_calendar: {
        Args: {
          host: string;
          name: string;
          professional_id: string;
          sealed_address: string;
        };
        Returns: Json;
      };
      store_google_connection: {
        Args: { professional_id: string; sealed_token: string };
        Returns: Json;
      };
      sync_busy_calendar: { Args: { calendar_id: string }; Returns: Json };
      test_webhook_endpoint: { Args: { endpoint_id: string }; Returns: Json };
      unsubscribe_client: {
        Args: { client_id: string; link_epoch: number };
        Returns: boolean;
      };
      update_google_connection: {
        Args: { busy?: boolean; push?: boolean };
        Returns: Json;
      };
      update_webhook_endpoint: {
        Args: { changes: Json; endpoint_id: string };
        Returns: Json;
      };
      variants: {
        Args: { "": Database["public"]["Tables"]["products"]["Row"] };
        Returns: {
          active: boolean;
          category: string | null;
          created_at: string;
          description: string | null;
          id: string;
          image_url: string | null;
          in_stock: boolean;
          low_stock_at: number | null;
          metadata: NonNullable<Json>;
          name: string;
          options: NonNullable<Json>;
          parent_id: string | null;
          price: number;
          professional_id: string;
          sku: string | null;
          stock: number | null;
          updated_at: string;
        }[];
        SetofOptions: {
          from: "products";
          to: "products";
          isOneToOne: false;
          isSetofReturn: true;
        };
      };
      webhook_attempts: { Args: { delivery_id: string }; Returns: Json };
      webhook_deliveries: {
        Args: {
          cursor?: string;
          endpoint_id?: string;
          page_size?: number;
          status?: string;
        };
        Returns: Json;
      };
      webhook_endpoint: { Args: { endpoint_id: string }; Returns: Json };
      webhook_endpoints: { Args: Record<PropertyKey, never>; Returns: Json };
      webhook_events: {
        Args: { after?: number; page_size?: number; type?: string };
        Returns: Json;
      };
    };
    Enums: {
      [_ in never]: never;
    };
    CompositeTypes: {
      audit_finding: {
        finding: string | null;
        subject_id: string | null;
        expected: number | null;
        actual: number | null;
      };
      booking_receipt: {
        id: string | null;
        professional_id: string | null;
        service_id: string | null;
        service_name: string | null;
        status: string | null;
        starts_at: string | null;
        ends_at: string | null;
        cancel_until: string | null;
        price: number | null;
        currency: string | null;
        notes: string | null;
        version: number | null;
        expires_at: string | null;
        order_id: string | null;
        checkout_token: string | null;
        amount_due: number | null;
      };
      mail_record: {
        id: string | null;
        audience: string | null;
        kind: string | null;
        recipient: string | null;
        status: string | null;
        outcome: string | null;
        client_id: string | null;
        booking_id: string | null;
        order_id: string | null;
        created_at: string | null;
        due_at: string | null;
        finished_at: string | null;
      };
      order_payment: {
        id: string | null;
        kind: string | null;
        amount: number | null;
        method: string | null;
        reference: string | null;
        reason: string | null;
        created_at: string | null;
        provider: string | null;
        flag: string | null;
      };
      order_quote: {
        items: Json | null;
        subtotal: number | null;
        discount: number | null;
        tax: number | null;
        total: number | null;
        currency: string | null;
      };
      order_receipt: {
        id: string | null;
        professional_id: string | null;
        number: number | null;
        kind: string | null;
        status: string | null;
        payment_status: string | null;
        items: Json | null;
        subtotal: number | null;
        discount: number | null;
        tax: number | null;
        total: number | null;
        amount_paid: number | null;
        amount_refunded: number | null;
        currency: string | null;
        version: number | null;
        created_at: string | null;
        expires_at: string | null;
        checkout_token: string | null;
        amount_due: number | null;
      };
      payment_receipt: {
        payment: Json | null;
        order: Json | null;
      };
      stock_level: {
        product_id: string | null;
        stock: number | null;
      };
    };
  };
};

type DatabaseWithoutInternals = Omit<Database, "__InternalSupabase">;

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, "public">];

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  }
    ? keyof (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
        DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])
    : never = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals;
}
  ? (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
      DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])[TableName] extends {
      Row: infer R;
    }
    ? R
    : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
    ? (DefaultSchema["Tables"] & DefaultSchema["Views"])[DefaultSchemaTableNameOrOptions] extends {
        Row: infer R;
      }
      ? R
      : never
    : never;

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals;
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Insert: infer I;
    }
    ? I
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Insert: infer I;
      }
      ? I
      : never
    : never;

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals;
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Update: infer U;
    }
    ? U
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Update: infer U;
      }
      ? U
      : never
    : never;

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema["Enums"]
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"]
    : never = never,
> = DefaultSchemaEnumNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals;
}
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema["Enums"]
    ? DefaultSchema["Enums"][DefaultSchemaEnumNameOrOptions]
    : never;

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema["CompositeTypes"]
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  }
    ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"]
    : never = never,
> = PublicCompositeTypeNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals;
}
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema["CompositeTypes"]
    ? DefaultSchema["CompositeTypes"][PublicCompositeTypeNameOrOptions]
    : never;

export const Constants = {
  public: {
    Enums: {},
  },
} as const;
